// The extension module behind `import headroom`: a question in words, as the command line takes it, and its answer.
// Only the stable interface of CPython 3.9 is used, so one build serves it and every later version.

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "output.hpp"
#include "program.hpp"
#include "verb_table.hpp"

#include "headroom/document/json.hpp"
#include "headroom/error.hpp"
#include "headroom/io/allocation.hpp"
#include "headroom/io/streams.hpp"
#include "headroom/text.hpp"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <Python.h>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace headroom::python {
namespace {

/// A thread that runs one task after the other. It is kept for the next call: to begin and end a thread takes longer than a
/// short call.
class Worker {
public:
    Worker() {
        std::thread{[this] { work(); }}.detach();
    }
    void begin(std::function<void()> task) {
        std::lock_guard const lock{mutex_};
        task_ = std::move(task);
        begun_.notify_one();
    }
    /// Whether the task ended within the time.
    bool ended_within(std::chrono::milliseconds time) {
        std::unique_lock lock{mutex_};
        return ended_.wait_for(lock, time, [this] { return !task_; });
    }
    void wait() {
        std::unique_lock lock{mutex_};
        ended_.wait(lock, [this] { return !task_; });
    }

private:
    void work() {
        std::unique_lock lock{mutex_};
        while (true) {
            begun_.wait(lock, [this] { return static_cast<bool>(task_); });
            lock.unlock();
            task_();
            lock.lock();
            task_ = nullptr;
            ended_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable begun_, ended_;
    std::function<void()> task_; ///< empty: it is idle
};

/// Workers without a task. They live until the process ends, and so does their list: a child of a fork has none of them.
struct IdleWorkers {
    std::mutex mutex;
    std::vector<Worker*> all;
};
IdleWorkers* idle_workers = nullptr;

void forget_workers() { idle_workers = new IdleWorkers; }

Worker& take_worker() {
    {
        std::lock_guard const lock{idle_workers->mutex};
        auto& all = idle_workers->all;
        if (!all.empty()) {
            Worker& last = *all.back();
            all.pop_back();
            return last;
        }
    }
    return *new Worker;
}

void give_back(Worker& worker) {
    std::lock_guard const lock{idle_workers->mutex};
    idle_workers->all.push_back(&worker);
}

/// One call of the program, on another thread, so that the thread that asked can watch for Ctrl-C.
class Call {
public:
    Call(std::vector<std::string> words, std::vector<std::string> forms, bool keeps)
        : capture{.forms = std::move(forms), .keeps = keeps}, worker_{take_worker()} {
        worker_.begin([this, words = std::move(words)]() mutable { run(words); });
    }
    /// Also where the interpreter ends the thread that asked, in the middle of its wait.
    ~Call() {
        stop();
        give_back(worker_);
    }
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;

    /// Whether it ended within the time.
    bool ended_within(std::chrono::milliseconds time) { return worker_.ended_within(time); }
    /// Asks it to stop, and waits until it has.
    void stop() {
        stop_.request_stop();
        worker_.wait();
    }

    int code = 0;
    io::Capture capture;
    ErrorText error;
    std::string fault; ///< of the program itself
    bool out_of_memory = false;

private:
    void run(std::vector<std::string>& words) {
        try {
            capture.stop = stop_.get_token();
            io::CaptureScope const scope{capture};
            code = cli::run_words(std::move(words), &error);
        } catch (std::bad_alloc const&) { out_of_memory = true; } catch (std::exception const& unexpected) {
            fault = unexpected.what();
        }
    }

    std::stop_source stop_;
    Worker& worker_;
};

/// A list of str, as UTF-8; nothing, with a Python error set, where it is not one.
std::optional<std::vector<std::string>> words_of(PyObject* list) {
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "ask takes a list of str");
        return std::nullopt;
    }
    std::vector<std::string> words;
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
        PyObject* const item = PyList_GetItem(list, i); // borrowed
        if (!PyUnicode_Check(item)) {
            PyErr_SetString(PyExc_TypeError, "ask takes a list of str");
            return std::nullopt;
        }
        PyObject* const bytes = PyUnicode_AsEncodedString(item, "utf-8", "surrogateescape");
        if (bytes == nullptr) { return std::nullopt; }
        char* text = nullptr;
        Py_ssize_t size = 0;
        bool const taken = PyBytes_AsStringAndSize(bytes, &text, &size) == 0;
        if (taken) { words.emplace_back(text, static_cast<std::size_t>(size)); }
        Py_DECREF(bytes);
        if (!taken) { return std::nullopt; }
    }
    return words;
}

PyObject* text_of(std::string const& text) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

/// Waits for the call without the interpreter lock; false, with KeyboardInterrupt set, where a signal ended it.
bool wait_for(Call& call) {
    while (true) {
        bool ended = false;
        Py_BEGIN_ALLOW_THREADS ended = call.ended_within(std::chrono::milliseconds{50});
        Py_END_ALLOW_THREADS if (ended) { return true; }
        if (PyErr_CheckSignals() != 0) {
            Py_BEGIN_ALLOW_THREADS call.stop();
            Py_END_ALLOW_THREADS return false;
        }
    }
}

/// An exception that was thrown below, as a Python error; to be called in its handler.
PyObject* thrown() {
    try {
        throw;
    } catch (std::bad_alloc const&) { return PyErr_NoMemory(); } catch (std::exception const& error) {
        return PyErr_Format(PyExc_SystemError, "headroom: internal fault (%s). please report it with the question",
                            error.what());
    }
}

// ---- results that are kept ----------------------------------------------------------------------------------------

constexpr char const* kept_name = "headroom result";
using Kept = std::shared_ptr<void const>;

void forget(PyObject* capsule) { delete static_cast<Kept*>(PyCapsule_GetPointer(capsule, kept_name)); }

/// A capsule of the result of a call; None where it kept none.
PyObject* kept_of(io::Capture const& capture) {
    if (!capture.result) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    auto owner = std::make_unique<Kept>(capture.result);
    PyObject* const capsule = PyCapsule_New(owner.get(), kept_name, forget);
    if (capsule != nullptr) { static_cast<void>(owner.release()); }
    return capsule;
}

/// The result in a capsule; null, with a Python error set, where there is none.
cli::KeptResult const* result_in(PyObject* capsule) {
    auto const* const kept = static_cast<Kept const*>(PyCapsule_GetPointer(capsule, kept_name));
    return kept == nullptr ? nullptr : static_cast<cli::KeptResult const*>(kept->get());
}

/// A text as str; bytes that are no UTF-8 become U+FFFD, as in the JSON of the program.
PyObject* str_of(std::string const& text) {
    PyObject* const whole = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
    if (whole != nullptr || PyErr_ExceptionMatches(PyExc_UnicodeDecodeError) == 0) { return whole; }
    PyErr_Clear();
    std::string valid;
    for (std::string_view left = text; !left.empty();) {
        std::size_t const length = text::first_character(left).length;
        valid += length == 0 ? std::string_view{"\xEF\xBF\xBD"} : left.substr(0, length);
        left.remove_prefix(length == 0 ? 1 : length);
    }
    return text_of(valid);
}

/// A number as `json.loads` reads it: int where the shortest text has neither point nor exponent, None where it is not finite.
PyObject* number_of(double value) {
    if (!std::isfinite(value)) { Py_RETURN_NONE; }
    if (value != std::trunc(value)) { return PyFloat_FromDouble(value); }
    std::string const text = document::exact(value);
    return text.find_first_of(".e") != std::string::npos ? PyFloat_FromDouble(value)
                                                         : PyLong_FromString(text.c_str(), nullptr, 10);
}

/// Makes Python objects of JSON; each is null, with a Python error set, where that fails.
struct ObjectMaker {
    PyObject* operator()(std::nullptr_t) const { Py_RETURN_NONE; }
    PyObject* operator()(bool value) const { return PyBool_FromLong(value ? 1 : 0); }
    PyObject* operator()(std::int64_t value) const { return PyLong_FromLongLong(value); }
    PyObject* operator()(double value) const { return number_of(value); }
    PyObject* operator()(std::string const& value) const { return str_of(value); }
    PyObject* operator()(std::vector<document::Json> const& items) const {
        PyObject* const list = PyList_New(static_cast<Py_ssize_t>(items.size()));
        for (std::size_t i = 0; list != nullptr && i < items.size(); ++i) {
            PyObject* const item = items[i].visit(*this);
            if (item == nullptr || PyList_SetItem(list, static_cast<Py_ssize_t>(i), item) != 0) { // it takes the item
                Py_DECREF(list);
                return nullptr;
            }
        }
        return list;
    }
    PyObject* operator()(std::vector<document::JsonMember> const& members) const {
        PyObject* const dictionary = PyDict_New();
        for (document::JsonMember const& member : members) {
            if (dictionary == nullptr) { break; }
            PyObject* const key = str_of(member.key);
            PyObject* const value = key == nullptr ? nullptr : member.value.visit(*this);
            bool const set = value != nullptr && PyDict_SetItem(dictionary, key, value) == 0;
            Py_XDECREF(key);
            Py_XDECREF(value);
            if (!set) {
                Py_DECREF(dictionary);
                return nullptr;
            }
        }
        return dictionary;
    }
};

PyObject* values(PyObject*, PyObject* capsule) {
    cli::KeptResult const* const kept = result_in(capsule);
    if (kept == nullptr) { return nullptr; }
    try {
        document::Json const json = kept->result.json();
        return io::allocation_failed() ? PyErr_NoMemory() : json.visit(ObjectMaker{});
    } catch (...) { return thrown(); }
}

PyObject* form(PyObject*, PyObject* arguments) {
    PyObject* capsule = nullptr; // borrowed
    char const* name = nullptr;
    if (PyArg_ParseTuple(arguments, "Os", &capsule, &name) == 0) { return nullptr; }
    cli::KeptResult const* const kept = result_in(capsule);
    if (kept == nullptr) { return nullptr; }
    try {
        io::Capture capture;
        io::CaptureScope const scope{capture};
        std::string const text = cli::text_of(*kept, name);
        return io::allocation_failed() ? PyErr_NoMemory() : text_of(text);
    } catch (...) { return thrown(); }
}

// ---- calls --------------------------------------------------------------------------------------------------------

PyObject* texts_of(std::vector<std::string> const& all) {
    PyObject* const list = PyList_New(0);
    for (std::string const& one : all) {
        PyObject* const text = list == nullptr ? nullptr : text_of(one);
        bool const kept = text != nullptr && PyList_Append(list, text) == 0;
        Py_XDECREF(text);
        if (!kept) {
            Py_XDECREF(list);
            return nullptr;
        }
    }
    return list;
}

PyObject* answer_of(Call const& call, bool keeps) {
    if (call.out_of_memory) { return PyErr_NoMemory(); }
    if (!call.fault.empty()) {
        PyErr_Format(PyExc_SystemError, "headroom: internal fault (%s). please report it with the question",
                     call.fault.c_str());
        return nullptr;
    }
    PyObject* const made = texts_of(call.capture.made);
    PyObject* const kept = made != nullptr && keeps ? kept_of(call.capture) : nullptr;
    if (made == nullptr || (keeps && kept == nullptr)) {
        Py_XDECREF(made);
        return nullptr;
    }
    return Py_BuildValue(keeps ? "iNN(NNNN)NN" : "iNN(NNNN)N", call.code, text_of(call.capture.out),
                         text_of(call.capture.error), text_of(call.error.where), text_of(call.error.problem),
                         text_of(call.error.why), text_of(call.error.hint), made, kept);
}

PyObject* run(PyObject* arguments, bool keeps) {
    try {
        PyObject *list = nullptr, *wanted = nullptr; // borrowed
        if (PyArg_ParseTuple(arguments, "O|O", &list, &wanted) == 0) { return nullptr; }
        auto words = words_of(list);
        auto forms = words && wanted != nullptr ? words_of(wanted) : std::vector<std::string>{};
        if (!words || !forms) { return nullptr; }
        Call call{std::move(*words), std::move(*forms), keeps};
        return wait_for(call) ? answer_of(call, keeps) : nullptr;
    } catch (std::bad_alloc const&) { return PyErr_NoMemory(); } catch (std::exception const& error) {
        PyErr_SetString(PyExc_OSError, error.what()); // no thread is to be had
        return nullptr;
    }
}

PyObject* ask(PyObject*, PyObject* arguments) { return run(arguments, false); }
PyObject* answer(PyObject*, PyObject* arguments) { return run(arguments, true); }

PyObject* verb_table(PyObject*, PyObject*) {
    try {
        return text_of(cli::verb_table().text());
    } catch (std::exception const&) { return PyErr_NoMemory(); }
}

PyMethodDef methods[] = {
    {"ask", ask, METH_VARARGS,
     "ask(words, forms=[]) -> (exit code, output, errors, (where, problem, why, hint), texts): runs a verb of the "
     "program "
     "in this process; texts are its result in the further forms 'table', 'csv' and 'html'."},
    {"answer", answer, METH_VARARGS,
     "answer(words, forms=[]) -> as ask, and the result, or None; a result that is kept is not in the output and "
     "texts."},
    {"values", values, METH_O, "values(result) -> the JSON of a result, as json.loads reads it."},
    {"form", form, METH_VARARGS, "form(result, name) -> a result as 'table', 'csv', 'html' or 'json'."},
    {"verb_table", verb_table, METH_NOARGS, "verb_table() -> JSON text of all verbs, their arguments and options."},
    {nullptr, nullptr, 0, nullptr},
};

int execute(PyObject*) {
    static std::once_flag once; // each interpreter of the process makes a module of its own
    std::call_once(once, [] {
        cli::hold_verbs(cli::all_verbs());
        forget_workers();
        pthread_atfork(nullptr, nullptr, forget_workers);
    });
    return 0;
}

/// Whether interpreters with a lock of their own are known (CPython 3.12), which older ones refuse to read.
bool knows_own_locks() {
    int minor = 0;
    return std::sscanf(Py_GetVersion(), "3.%d", &minor) == 1 && minor >= 12;
}

// The module holds no Python object, so interpreters may run it side by side: slot 3, Py_mod_multiple_interpreters, with
// Py_MOD_PER_INTERPRETER_GIL_SUPPORTED, neither of which the stable interface of 3.9 names.
PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(execute)}, {0, nullptr}, {0, nullptr}};

PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "headroom._program",
    .m_doc = "The program, in this process.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = nullptr,
    .m_clear = nullptr,
    .m_free = nullptr,
};

} // namespace
} // namespace headroom::python

PyMODINIT_FUNC PyInit__program() {
    if (headroom::python::knows_own_locks()) { headroom::python::slots[1] = {3, reinterpret_cast<void*>(2)}; }
    return PyModuleDef_Init(&headroom::python::definition);
}
