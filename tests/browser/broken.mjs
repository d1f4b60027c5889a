// Faults that are put into a good page, and the messages that must notice them.
export const faults = [
  { name: "a mark is missing", noticed: /marks for/, make: () => document.querySelector(".marks > *").remove() },
  { name: "a mark too many", noticed: /marks for/,
    make: () => { const mark = document.querySelector(".marks > *"); mark.after(mark.cloneNode(true)); } },
  { name: "a mark says nothing", noticed: /without a title/, make: () => document.querySelector(".marks > * > title").remove() },
  { name: "a rule is missing", noticed: /is not drawn/, make: () => document.querySelector(".rule line").remove() },
  { name: "a rule has no name", noticed: /has no name/, make: () => document.querySelector(".rule-name").remove() },
  { name: "a curve is missing", noticed: /no line/, make: () => document.querySelector(".band path").remove() },
  { name: "labels overlap", noticed: /overlap/,
    make: () => { const text = document.querySelector(".rule-name"); text.after(text.cloneNode(true)); } },
  { name: "a label leaves the drawing", noticed: /runs out of the drawing/,
    make: () => document.querySelector(".rule-name").setAttribute("x", -300) },
  { name: "the page is too wide", noticed: /pixels wide/, make: () => { document.querySelector("footer").style.width = "3000px"; } },
  { name: "a figure has no drawing", noticed: /nothing is drawn/, make: () => document.querySelector(".drawing > svg").remove() },
  { name: "a figure has no caption", noticed: /no caption/, make: () => document.querySelector("figcaption").replaceChildren() },
  { name: "a row of the table is missing", noticed: /rows in the table/, make: () => document.querySelector("details tbody tr").remove() },
  { name: "a bar is missing", noticed: /pieces drawn/, make: () => document.querySelector(".pieces > *").remove() },
  { name: "an error on the console", noticed: /says error/, make: () => console.error("broken") },
  { name: "a picture from outside", noticed: /asks for|says error/,
    make: () => { document.body.append(Object.assign(new Image(), { src: "https://example.invalid/x.png" })); } },
  { name: "a script that was smuggled in", noticed: /says error/,
    make: () => { const script = document.createElement("script"); script.textContent = "1"; document.body.append(script); } },
];

// Faults of a page with a schedule, and the messages that must notice them.
const scheduleFaults = [
  { name: "a pass is missing", noticed: /pieces drawn/, make: () => document.querySelector("svg:has(> defs pattern)").querySelector(".marks > rect").remove() },
  { name: "a pass says nothing", noticed: /without a title/, make: () => document.querySelector("svg:has(> defs pattern)").querySelector(".marks > * > title").remove() },
  { name: "a gap is not hatched", noticed: /not hatched/, make: () => document.querySelector("svg:has(> defs pattern)").querySelectorAll(".pattern").forEach((one) => one.remove()) },
  { name: "a pass is too wide", noticed: /not covered once/, make: () => document.querySelector("svg:has(> defs pattern)").querySelector(".marks > rect").setAttribute("width", 400) },
];

// And for one whose points have intervals.
const intervalFaults = [
  { name: "an interval is missing", noticed: /intervals for/, make: () => document.querySelector(".interval line").remove() },
];

// And of a page with a timeline.
const timelineFaults = [
  { name: "a timeline is not drawn", noticed: /nothing is drawn/, make: () => document.querySelector("canvas").remove() },
  { name: "a timeline is empty", noticed: /colours for/, make: () => { const one = document.querySelector("canvas"); one.width = one.width; } },
  { name: "a link leads nowhere", noticed: /leads to nothing/,
    make: () => document.querySelector(document.querySelector("a.evidence").getAttribute("href")).remove() },
  { name: "a button is gone", noticed: /buttons/, make: () => document.querySelector(".tools button").remove() },
];

export const faultsOf = { "predict-pipeline": () => scheduleFaults, trace: () => timelineFaults,
  "measure-roofline": ({ kernels }) => (kernels.length > 0 ? intervalFaults : []) }; // a busy machine may time no kernel
