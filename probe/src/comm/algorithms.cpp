#include "mpi_state.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace headroom::probe {

using namespace headroom::network;

namespace {

constexpr char const* rules_variable = "coll_tuned_use_dynamic_rules";

/// By which control variable of Open MPI a collective's algorithm is chosen; its values and their names come from the
/// library.
struct ForcedBy {
    Collective collective;
    char const* variable;
};
constexpr std::array forced_by{
    ForcedBy{Collective::all_reduce, "coll_tuned_allreduce_algorithm"},
    ForcedBy{Collective::all_gather, "coll_tuned_allgather_algorithm"},
    ForcedBy{Collective::reduce_scatter, "coll_tuned_reduce_scatter_algorithm"},
    ForcedBy{Collective::all_to_all, "coll_tuned_alltoall_algorithm"},
    ForcedBy{Collective::broadcast, "coll_tuned_bcast_algorithm"},
    ForcedBy{Collective::reduce, "coll_tuned_reduce_algorithm"},
    ForcedBy{Collective::barrier, "coll_tuned_barrier_algorithm"},
};

/// A control variable of the library while it is looked at.
class Variable {
public:
    static std::optional<Variable> find(char const* name) {
        int index = 0;
        if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) { return {}; }
        Variable found;
        std::array<char, 256> text{};
        int length = text.size(), verbosity = 0, bound = 0, count = 0;
        if (MPI_T_cvar_get_info(index, text.data(), &length, &verbosity, &found.type_, &found.values_, nullptr, nullptr,
                                &bound, &found.scope_) != MPI_SUCCESS ||
            MPI_T_cvar_handle_alloc(index, nullptr, &found.handle_, &count) != MPI_SUCCESS || count != 1) {
            return {};
        }
        return found;
    }
    [[nodiscard]] bool writable() const {
        bool const whole = type_ == MPI_INT || type_ == MPI_UNSIGNED;
        return whole && scope_ != MPI_T_SCOPE_CONSTANT && scope_ != MPI_T_SCOPE_READONLY;
    }
    [[nodiscard]] int read() const {
        std::array<char, 16> bytes{}; // of whatever type: a small whole number lies at its beginning
        MPI_T_cvar_read(handle_, bytes.data());
        int value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    [[nodiscard]] bool write(int value) const {
        return MPI_T_cvar_write(handle_, &value) == MPI_SUCCESS && read() == value;
    }
    /// The names of its values, with the numbers.
    [[nodiscard]] std::vector<std::pair<int, std::string>> values() const {
        std::vector<std::pair<int, std::string>> all;
        if (values_ == MPI_T_ENUM_NULL) { return all; }
        std::array<char, 256> text{};
        int count = 0, length = text.size();
        MPI_T_enum_get_info(values_, &count, text.data(), &length);
        for (int i = 0; i < count; ++i) {
            int value = 0;
            length = text.size();
            if (MPI_T_enum_get_item(values_, i, &value, text.data(), &length) == MPI_SUCCESS) {
                all.emplace_back(value, text.data());
            }
        }
        return all;
    }

private:
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_enum values_ = MPI_T_ENUM_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    int scope_ = 0;
};

char const* variable_of(Collective collective) {
    for (ForcedBy const& one : forced_by) {
        if (one.collective == collective) { return one.variable; }
    }
    return "";
}

} // namespace

void allow_forced_algorithms() { ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0); }

std::vector<CommAlgorithm> forced_algorithms(std::string& why_not) {
    auto const rules = Variable::find(rules_variable);
    if (!rules || (rules->read() & 0xFF) == 0) {
        why_not = rules ? std::string{rules_variable} + " is switched off"
                        : "this library has no control variables for it that are known here (Open MPI's \"tuned\" has)";
        return {};
    }
    std::vector<CommAlgorithm> all;
    for (ForcedBy const& one : forced_by) {
        auto const variable = Variable::find(one.variable);
        if (!variable || !variable->writable()) { continue; }
        for (auto& [number, name] : variable->values()) {
            if (number != 0) { all.push_back({one.collective, std::move(name), number}); } // 0: as it chooses
        }
    }
    if (all.empty()) { why_not = "the library's control variables for it cannot be written while it runs"; }
    return all;
}

/// The library looks at the variable when a communicator is made, and never again.
MPI_Comm communicator_for(MpiRank& self, Collective collective, int number) {
    if (number == 0) { return self.comm; }
    auto const [at, is_new] = self.forced.try_emplace({collective, number}, MPI_COMM_NULL);
    if (!is_new) { return at->second; }
    auto const variable = Variable::find(variable_of(collective));
    bool const forced = variable && variable->write(number);
    int all = 0, mine = forced ? 1 : 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, self.comm);
    if (all == 1) {
        MPI_Comm_dup(self.comm, &at->second);
        MPI_Comm_set_errhandler(at->second, MPI_ERRORS_RETURN);
    }
    if (forced) { static_cast<void>(variable->write(0)); }
    return at->second;
}

} // namespace headroom::probe
