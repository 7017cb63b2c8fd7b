package mappings

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/internal/vocabulary"
)

// TestSeverities: the labels of a column that are all on one scale have its levels.
func TestSeverities(t *testing.T) {
	for labels, want := range map[string]string{
		"Low|Moderate|High|Extreme": "1 2 4 5", "Lavt|Moderat|Høyt|Svært høyt": "2 3 4 5", "Låg|Måttlig|Hög": "1 2 4",
		"LAAG|GEMIDDELD|HOOG": "1 3 4", "gering|mittel|hoch|sehr hoch": "2 3 4 5", "Geringes Risiko|Mittleres Risiko|Hohes Risiko": "1 3 4",
		"Niskie|Średnie|Wysokie|Bardzo wysokie": "2 3 4 5", "Düşük|Orta|Yüksek": "1 3 4", "Низкий|Средний|Высокий": "1 3 4", "Низкая|Средняя|Высокая": "1 3 4",
		"منخفض|متوسط|مرتفع": "1 3 4", "低风险|中风险|高风险": "1 3 4", "低い|やや高い|高い|極めて高い": "2 3 4 5", "낮음|보통|높음": "1 2 4", "Matala|Kohtalainen|Korkea": "1 2 4",
		"Nível baixo|Nível médio|Nível alto": "1 3 4", "Faible|Modérée|Élevée|Extrême": "1 2 4 5",
		"green|yellow|orange|red": "1 2 4 5", "Grønt|Gult|Rødt": "1 3 5", "Grün|Gelb": "1 3", "蓝色预警|黄色预警|橙色预警|红色预警": "2 3 4 5", "Vihreä|Keltainen|Punainen": "1 3 5",
		"Information|Advisory|Watch|Warning": "1 2 4 5", "Hinweis|Warnung|Alarm": "2 4 5", "information|attention|alerte|urgence": "1 2 4 5",
		"Level 1: Exercise Normal Precautions|Level 2: Exercise Increased Caution|Level 3: Reconsider Travel|Level 4: Do Not Travel": "1 2 4 5",
		"Exercise a high degree of caution|Reconsider your need to travel":                                                           "2 4",
		"Vigilance normale|Vigilance renforcée|Déconseillé sauf raison impérative|Formellement déconseillé":                          "1 2 4 5",
		"レベル１：十分注意してください。|レベル２：不要不急の渡航は止めてください。|レベル３：渡航は止めてください。（渡航中止勧告）|レベル４：退避してください。渡航は止めてください。（退避勧告）": "2 3 4 5",
		"여행유의|여행자제|철수권고|여행금지": "1 2 4 5", "注意安全|谨慎前往|暂勿前往": "1 2 4",
		"Oslo|Bergen": "", "low|green": "", "Low|Low risk": "", "High or low|High|Moderate": "", "high": "",
	} {
		var folded []string
		for label := range strings.SplitSeq(labels, "|") {
			folded = append(folded, vocabulary.Fold(label))
		}
		levels, ok := severities(folded)
		var got []string
		for _, label := range folded {
			if ok {
				got = append(got, fmt.Sprint(levels[label]))
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %s, want %s", labels, got, want)
		}
	}
	if n, _, ok := numberIn("1e30"); ok { // no int holds it, and a scale up to it has no end
		t.Errorf("1e30 is the level %d", n)
	}
}

// TestSeverityScales: no label has two levels on one scale.
func TestSeverityScales(t *testing.T) {
	for text := range strings.SplitSeq(severityScales, "\n\n") {
		seen := map[string]int{}
		for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
			for word := range strings.SplitSeq(strings.ReplaceAll(line, "*", ""), "/") {
				folded := vocabulary.Fold(word)
				if other, again := seen[folded]; again {
					t.Errorf("%q is in line %d and in %d of its scale", word, other+1, i+1)
				}
				seen[folded] = i
			}
		}
	}
}
