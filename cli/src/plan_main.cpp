// Main program with the verbs that a plan needs: `make plan` builds it first. `make build` builds them all.
#include "program.hpp"

#include <array>

int main(int argc, char** argv) {
    using namespace headroom::cli;
    static constexpr std::array held{plan_verb, predict_verb, finetune_verb, support_verb, catalog_verb};
    return run_program(argc, argv, held);
}
