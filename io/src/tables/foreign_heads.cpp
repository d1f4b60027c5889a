#include "tables/foreign_heads.hpp"

#include "tables/cell_text.hpp"

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

struct ForeignWord {
    std::string_view foreign, english;
};

/// Words of languages with blanks, in lower case; what begins with another one stands before it.
constexpr std::array foreign_words{
    // German
    ForeignWord{"anzahl der", "number of"},
    ForeignWord{"anzahl", "number of"},
    ForeignWord{"kerne", "cores"},
    ForeignWord{"prozessoren", "processors"},
    ForeignWord{"prozesse", "processes"},
    ForeignWord{"knoten", "nodes"},
    ForeignWord{"ausf\xC3\xBChrungszeit", "execution time"},
    ForeignWord{"rechenzeit", "compute time"},
    ForeignWord{"trainingszeit", "training time"},
    ForeignWord{"schrittzeit", "step time"},
    ForeignWord{"laufzeit", "runtime"},
    ForeignWord{"zeit in sekunden", "time (s)"},
    ForeignWord{"zeit in minuten", "time (min)"},
    ForeignWord{"zeit pro schritt", "step time"},
    ForeignWord{"zeit", "time"},
    ForeignWord{"dauer", "duration"},
    ForeignWord{"durchsatz", "throughput"},
    ForeignWord{"beschleunigung", "speedup"},
    ForeignWord{"parallele effizienz", "parallel efficiency"},
    ForeignWord{"effizienz", "efficiency"},
    ForeignWord{"bilder", "images"},
    ForeignWord{"pro sekunde", "per second"},
    ForeignWord{"sekunden", "seconds"},
    ForeignWord{"minuten", "minutes"},
    ForeignWord{"stunden", "hours"},
    ForeignWord{"pro gpu", "per GPU"},
    ForeignWord{"sequenzl\xC3\xA4nge", "sequence length"},
    ForeignWord{"globale batchgr\xC3\xB6\xC3\x9F"
                "e",
                "global batch size"},
    ForeignWord{"modell", "model"},
    ForeignWord{"mikro-batch", "micro batch"},
    ForeignWord{"mikrobatch", "micro batch"},
    // French
    ForeignWord{"nombre de", "number of"},
    ForeignWord{"nombre d'", "number of "},
    ForeignWord{"nb de", "number of"},
    ForeignWord{"c\xC5\x93urs", "cores"},
    ForeignWord{"coeurs", "cores"},
    ForeignWord{"n\xC5\x93uds", "nodes"},
    ForeignWord{"noeuds", "nodes"},
    ForeignWord{"processus", "processes"},
    ForeignWord{"processeurs", "processors"},
    ForeignWord{"temps d'ex\xC3\xA9"
                "cution",
                "execution time"},
    ForeignWord{"temps d\xE2\x80\x99"
                "ex\xC3\xA9"
                "cution",
                "execution time"},
    ForeignWord{"temps de calcul", "compute time"},
    ForeignWord{"temps par pas", "step time"},
    ForeignWord{"temps", "time"},
    ForeignWord{"dur\xC3\xA9"
                "e",
                "duration"},
    ForeignWord{"d\xC3\xA9"
                "bit",
                "throughput"},
    ForeignWord{"acc\xC3\xA9l\xC3\xA9ration", "speedup"},
    ForeignWord{"efficacit\xC3\xA9", "efficiency"},
    ForeignWord{"par seconde", "per second"},
    ForeignWord{"secondes", "seconds"},
    ForeignWord{"par gpu", "per GPU"},
    ForeignWord{"mod\xC3\xA8le", "model"},
    ForeignWord{"longueur de s\xC3\xA9quence", "sequence length"},
    // Spanish, Italian, Portuguese
    ForeignWord{"n\xC3\xBAmero de", "number of"},
    ForeignWord{"numero de", "number of"},
    ForeignWord{"numero di", "number of"},
    ForeignWord{"hilos", "threads"},
    ForeignWord{"procesadores", "processors"},
    ForeignWord{"procesos", "processes"},
    ForeignWord{"nodos", "nodes"},
    ForeignWord{"n\xC3\xBA"
                "cleos",
                "cores"},
    ForeignWord{"tiempo de ejecuci\xC3\xB3n", "execution time"},
    ForeignWord{"tiempo", "time"},
    ForeignWord{"aceleraci\xC3\xB3n", "speedup"},
    ForeignWord{"eficiencia", "efficiency"},
    ForeignWord{"por segundo", "per second"},
    ForeignWord{"segundos", "seconds"},
    ForeignWord{"tempo di esecuzione", "execution time"},
    ForeignWord{"tempo de execu\xC3\xA7\xC3\xA3o", "execution time"},
    ForeignWord{"tempo", "time"},
    ForeignWord{"processori", "processors"},
    ForeignWord{"processi", "processes"},
    ForeignWord{"nodi", "nodes"},
    ForeignWord{"efficienza", "efficiency"},
    ForeignWord{"al secondo", "per second"},
    ForeignWord{"processadores", "processors"},
    ForeignWord{"processos", "processes"},
    ForeignWord{"n\xC3\xB3s", "nodes"},
    ForeignWord{"acelera\xC3\xA7\xC3\xA3o", "speedup"},
    ForeignWord{"efici\xC3\xAAncia", "efficiency"},
};

/// Words of languages without blanks, and of Korean, in any place; what begins with another one stands before it.
constexpr std::array foreign_signs{
    // Chinese
    ForeignWord{"显卡数量", " GPUs "},
    ForeignWord{"显卡数", " GPUs "},
    ForeignWord{"卡数", " GPUs "},
    ForeignWord{"节点数量", " nodes "},
    ForeignWord{"节点数", " nodes "},
    ForeignWord{"进程数", " processes "},
    ForeignWord{"线程数", " threads "},
    ForeignWord{"核心数", " cores "},
    ForeignWord{"核数", " cores "},
    ForeignWord{"吞吐量", " throughput "},
    ForeignWord{"吞吐", " throughput "},
    ForeignWord{"加速比", " speedup "},
    ForeignWord{"并行效率", " parallel efficiency "},
    ForeignWord{"训练时间", " training time "},
    ForeignWord{"运行时间", " runtime "},
    ForeignWord{"执行时间", " execution time "},
    ForeignWord{"每步时间", " step time "},
    ForeignWord{"单步时间", " step time "},
    ForeignWord{"耗时", " time "},
    ForeignWord{"时间", " time "},
    ForeignWord{"效率", " efficiency "},
    ForeignWord{"毫秒", " ms "},
    ForeignWord{"秒", " s "},
    ForeignWord{"小时", " h "},
    ForeignWord{"分钟", " min "},
    ForeignWord{"模型", " model "},
    ForeignWord{"加速卡", " GPU "},
    ForeignWord{"序列长度", " sequence length "},
    ForeignWord{"全局批大小", " global batch size "},
    ForeignWord{"微批大小", " micro batch size "},
    ForeignWord{"数量", " number "},
    // Japanese
    ForeignWord{"プロセス数", " processes "},
    ForeignWord{"スレッド数", " threads "},
    ForeignWord{"ノード数", " nodes "},
    ForeignWord{"コア数", " cores "},
    ForeignWord{"スループット", " throughput "},
    ForeignWord{"実行時間", " execution time "},
    ForeignWord{"計算時間", " compute time "},
    ForeignWord{"時間", " time "},
    ForeignWord{"速度向上率", " speedup "},
    ForeignWord{"並列化効率", " parallel efficiency "},
    ForeignWord{"並列効率", " parallel efficiency "},
    ForeignWord{"台数効果", " speedup "},
    ForeignWord{"数", " number "},
    // Korean
    ForeignWord{"노드 수", " nodes "},
    ForeignWord{"스레드 수", " threads "},
    ForeignWord{"프로세스 수", " processes "},
    ForeignWord{"처리량", " throughput "},
    ForeignWord{"실행 시간", " execution time "},
    ForeignWord{"학습 시간", " training time "},
    ForeignWord{"시간", " time "},
    ForeignWord{"속도 향상", " speedup "},
    ForeignWord{"효율", " efficiency "},
    // brackets and colons of full width
    ForeignWord{"（", " ("},
    ForeignWord{"）", ") "},
    ForeignWord{"／", "/"},
    ForeignWord{"％", "%"},
};

/// A letter, of ASCII or of another alphabet.
bool is_letter_of_any(char c) {
    return (lowered(c) >= 'a' && lowered(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80U;
}

/// The phrase of a list at a place in a text; none where there is none.
template <class List> ForeignWord const* foreign_word_at(List const& list, std::string_view text, std::size_t at) {
    auto const found = std::ranges::find_if(
        list, [&](ForeignWord const& one) { return same_caseless(text.substr(at, one.foreign.size()), one.foreign); });
    return found == list.end() ? nullptr : &*found;
}

/// The word that begins at a place in a text and ends with it: "Zeit" of "Zeit (s)", not of "Zeitung".
ForeignWord const* whole_word_at(std::string_view text, std::size_t at) {
    if (at > 0 && is_letter_of_any(text[at - 1])) { return nullptr; }
    auto const found = std::ranges::find_if(foreign_words, [&](ForeignWord const& one) {
        std::size_t const end = at + one.foreign.size();
        bool const apart = end >= text.size() || !is_letter_of_any(text[end]) || one.foreign.ends_with('\'');
        return apart && same_caseless(text.substr(at, one.foreign.size()), one.foreign);
    });
    return found == foreign_words.end() ? nullptr : &*found;
}

} // namespace

std::string in_english(std::string_view head) {
    std::string text;
    bool any = false;
    for (std::size_t at = 0; at < head.size();) {
        ForeignWord const* phrase = whole_word_at(head, at);
        if (phrase == nullptr) { phrase = foreign_word_at(foreign_signs, head, at); }
        any = any || phrase != nullptr;
        text += phrase != nullptr ? phrase->english : head.substr(at, 1);
        at += phrase != nullptr ? phrase->foreign.size() : 1;
    }
    if (!any) { return std::string{head}; }
    std::string english;
    for (std::string_view left = text; !left.empty();) {
        english += english.empty() ? "" : " ";
        english += next_word(left);
    }
    auto at = english.find("( ");
    for (; at != std::string::npos; at = english.find("( ")) { english.erase(at + 1, 1); }
    for (at = english.find(" )"); at != std::string::npos; at = english.find(" )")) { english.erase(at, 1); }
    return english;
}

std::vector<std::pair<std::string, std::string>> translate_heads(CsvTable& table) {
    std::vector<std::pair<std::string, std::string>> changed;
    for (std::string& head : table.header) {
        std::string english = in_english(head);
        if (!table.named || english == head) { continue; }
        changed.emplace_back(head, english);
        head = std::move(english);
    }
    return changed;
}

} // namespace headroom::io
