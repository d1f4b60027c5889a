// The extension module behind `import headroom`: a question in words, as the command line takes it, and its answer.
// Only the stable interface of CPython 3.9 is used, so one build serves it and every later version.

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include "program.hpp"
#include "verb_table.hpp"

#include "headroom/error.hpp"
#include "headroom/io/streams.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <Python.h>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace headroom::python {
namespace {

/// One call of the program, on a thread of its own, so that the thread that asked can watch for Ctrl-C.
class Call {
public:
    Call(std::vector<std::string> words, std::vector<std::string> forms)
        : capture{.forms = std::move(forms)}, thread_{[this, words = std::move(words)]() mutable { run(words); }} {}
    /// Also where the interpreter ends the thread that asked, in the middle of its wait.
    ~Call() {
        if (thread_.joinable()) { stop(); }
    }
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;

    /// Whether it ended within the time.
    bool ended_within(std::chrono::milliseconds time) {
        std::unique_lock lock{mutex_};
        return ended_.wait_for(lock, time, [this] { return over_; });
    }
    /// Asks it to stop, and waits until it has.
    void stop() {
        stop_.request_stop();
        thread_.join();
    }
    void join() { thread_.join(); }

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
        std::lock_guard const lock{mutex_};
        over_ = true;
        ended_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::stop_source stop_;
    std::thread thread_; ///< last: it uses the others
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
        if (ended) { call.join(); }
        Py_END_ALLOW_THREADS if (ended) { return true; }
        if (PyErr_CheckSignals() != 0) {
            Py_BEGIN_ALLOW_THREADS call.stop();
            Py_END_ALLOW_THREADS return false;
        }
    }
}

PyObject* answer_of(Call const& call) {
    if (call.out_of_memory) { return PyErr_NoMemory(); }
    if (!call.fault.empty()) {
        PyErr_Format(PyExc_SystemError, "headroom: internal fault (%s). please report it with the question",
                     call.fault.c_str());
        return nullptr;
    }
    PyObject* const made = PyList_New(0);
    for (std::string const& one : call.capture.made) {
        PyObject* const text = made == nullptr ? nullptr : text_of(one);
        bool const kept = text != nullptr && PyList_Append(made, text) == 0;
        Py_XDECREF(text);
        if (!kept) {
            Py_XDECREF(made);
            return nullptr;
        }
    }
    return Py_BuildValue("iNN(NNNN)N", call.code, text_of(call.capture.out), text_of(call.capture.error),
                         text_of(call.error.where), text_of(call.error.problem), text_of(call.error.why),
                         text_of(call.error.hint), made);
}

PyObject* ask(PyObject*, PyObject* arguments) {
    try {
        PyObject *list = nullptr, *wanted = nullptr; // borrowed
        if (PyArg_ParseTuple(arguments, "O|O", &list, &wanted) == 0) { return nullptr; }
        auto words = words_of(list);
        auto forms = words && wanted != nullptr ? words_of(wanted) : std::vector<std::string>{};
        if (!words || !forms) { return nullptr; }
        Call call{std::move(*words), std::move(*forms)};
        return wait_for(call) ? answer_of(call) : nullptr;
    } catch (std::bad_alloc const&) { return PyErr_NoMemory(); } catch (std::exception const& error) {
        PyErr_SetString(PyExc_OSError, error.what()); // no thread is to be had
        return nullptr;
    }
}

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
    {"verb_table", verb_table, METH_NOARGS, "verb_table() -> JSON text of all verbs, their arguments and options."},
    {nullptr, nullptr, 0, nullptr},
};

int execute(PyObject*) {
    static std::once_flag once; // each interpreter of the process makes a module of its own
    std::call_once(once, [] { cli::hold_verbs(cli::all_verbs()); });
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
