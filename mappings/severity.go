package mappings

import (
	"slices"
	"strings"
	"unicode"

	"riskdex/internal/vocabulary"
)

// severityScales are what publishers call risk levels, a scale after each empty line, the lowest level
// first: a level has the English word that begins its line, others that mean the same, and their
// translations. Levels with a * are on every scale of its kind, also where no report of a sample has
// them. Endings are left to withEndings.
const severityScales = `
none/no/aucun/aucune/nul/nulle/keine/kein/ninguno/ninguna/nulo/nessuno/nessuna/nenhum/nenhuma/geen/ingen/intet/inga/inget/ei/ei ole/brak/yok/нет/отсутствует/لا يوجد/无/なし/없음
normal/normale/routine/usual/standard/gewöhnlich/normaali/обычный/عادي/正常/通常/정상
insignificant/unbedeutend/insignifiant/insignificante/ubetydelig/obetydlig/merkityksetön/önemsiz/非重大
negligible/négligeable/vernachlässigbar/despreciable/trascurabile/desprezível/verwaarloosbaar/försumbar/vähäinen/nieistotny/незначительный/ضئيل/可忽略/미미
minimal/minime/mínimo/mínima/minimaal/minimaalinen/minimalny/asgari/минимальный/أدنى/最低/최소
very low/très faible/très bas/très basse/muy bajo/muy baja/sehr niedrig/sehr niedriges/sehr gering/sehr geringes/molto basso/molto bassa/muito baixo/muito baixa/zeer laag/zeer lage/svært lav/svært lavt/veldig lav/veldig lavt/meget lav/meget lavt/mycket låg/mycket lågt/mycket liten/erittäin matala/hyvin matala/erittäin alhainen/bardzo niski/bardzo niska/bardzo niskie/çok düşük/очень низкий/очень низкая/очень низкое/منخفض جدا/منخفض للغاية/非常低/很低/极低/極めて低い/非常に低い/とても低い/매우 낮음
low/faible/bas/basse/bajo/baja/niedrig/gering/klein/leicht/basso/bassa/lieve/baixo/baixa/laag/lage/lav/lavt/lave/låg/lågt/låga/liten/matala/alhainen/pieni/niski/düşük/низкий/منخفض/منخفضة/低/较低/低い/낮음
guarded/vorsicht/vigilance/pas op/varovaisuus
low to moderate/low to medium/faible à modéré/gering bis mittel/niedrig bis mittel/lav til moderat/中低
minor/mineur/menor/minore/mindre/kleiner/lievä/drobny/hafif/малый/طفيف/轻微/小
limited/limité/limitado/limitato/begrenzt/begrenset/begrænset/begränsad/begränsat/beperkt/rajallinen/ograniczony/sınırlı/ограниченный/محدود/有限/限定的/제한적
moderate/modéré/modérée/moderado/moderada/mäßig/moderat/moderato/moderata/matig/måttlig/måttligt/kohtalainen/umiarkowany/ılımlı/умеренный/معتدل/معتدلة/中度/中程度/보통
medium/moyen/moyenne/medio/media/mittel/mittlerer/mittlere/mittleres/middle/gemiddeld/middels/middel/medel/medelhög/medelhögt/keskitaso/keskitasoinen/keskimääräinen/keskisuuri/średni/średnia/średnie/orta/средний/средняя/среднее/متوسط/متوسطة/中/中等/중간
elevated/increased/erhöht/elevado/elevada/accru/accrue/renforcé/verhoogd/aumentato/aumentado/forhøyet/forhøyd/økt/forhøjet/øget/förhöjd/förhöjt/ökad/kohonnut/lisääntynyt/podwyższony/podwyższone/podwyższona/yükselmiş/повышенный/مرتفع نسبيا/较高/やや高い/다소 높음
considerable/betydelig/betydeligt/betydande/aanzienlijk/erheblich/huomattava/znaczny/ощутимый
significant/significatif/significative/significativo/signifikant/merkittävä/znaczący/önemli/значительный/كبير/显著/著しい/상당함
substantial/substantiel/substancial/sustancial/sostanziale/wesentlich/substantieel/vesentlig/väsentlig/существенный/相当
moderate to high/medium to high/modéré à élevé/mittel bis hoch/中高
serious/grave/grav/ernst/ernsthaft/sérieux/sérieuse/serio/allvarlig/allvarligt/alvorlig/alvorligt/vakava/poważny/ciddi/серьезный/خطير/严重/深刻/重大/심각
high/élevé/élevée/haut/haute/fort/forte/alto/alta/hoch/hohe/hohes/hoher/groß/elevato/elevata/hoog/hoge/høy/høyt/høye/høj/højt/høje/hög/högt/höga/stor/korkea/suuri/wysoki/yüksek/высокий/مرتفع/مرتفعة/عال/عالي/عالية/高/高い/高度/높음
major/majeur/majeure/maggiore/mayor/stark/большой/大
severe/severo/severa/schwer/gravissimo/şiddetli/тяжелый/شديد/격심
very high/très élevé/très élevée/très fort/très forte/muy alto/muy alta/muy elevado/sehr hoch/sehr hohe/sehr hohes/molto alto/molto alta/molto elevato/muito alto/muito alta/muito elevado/zeer hoog/zeer hoge/svært høy/svært høyt/veldig høy/veldig høyt/meget høj/meget højt/meget høy/mycket hög/mycket högt/mycket stor/erittäin korkea/hyvin korkea/erittäin suuri/bardzo wysoki/bardzo wysoka/bardzo wysokie/çok yüksek/очень высокий/очень высокая/очень высокое/مرتفع جدا/مرتفع للغاية/非常高/很高/極めて高い/非常に高い/とても高い/매우 높음
critical/critique/crítico/crítica/kritisch/kritisk/kritiskt/kriittinen/krytyczny/kritik/критический/حرج/حرجة/危急/危機的/위급
extreme/extremo/extrema/extrem/extremt/estremo/estrema/extreem/ekstrem/ekstremt/äärimmäinen/ekstremalny/aşırı/экстремальный/крайний/крайне высокий/متطرف/بالغ/极高/极端/극심

white/blanc/blanche/weiß/blanco/blanca/bianco/bianca/branco/branca/wit/witte/hvit/hvitt/hvid/hvidt/vit/vitt/valkoinen/biały/beyaz/белый/أبيض/白/흰색
green*/vert/verte/grün/verde/groen/grønn/grønt/grøn/vihreä/zielony/yeşil/зеленый/أخضر/الأخضر/绿/녹색/초록/초록색
blue/bleu/bleue/blau/azul/blu/azzurro/blauw/blå/blått/blåt/sininen/niebieski/mavi/синий/أزرق/الأزرق/蓝/青/파랑/파란색/청색/남색
yellow/jaune/gelb/amarillo/amarilla/giallo/gialla/amarelo/amarela/geel/gele/gul/gult/keltainen/żółty/sarı/желтый/أصفر/الأصفر/黄/노랑/노란색/황색
amber/orange/naranja/anaranjado/arancione/laranja/oranje/oransje/oranssi/pomarańczowy/turuncu/оранжевый/برتقالي/البرتقالي/橙/オレンジ/주황/주황색
red*/rouge/rot/rote/roter/rotes/rojo/roja/rosso/rossa/vermelho/vermelha/encarnado/rood/rode/rød/rødt/rött/punainen/czerwony/kırmızı/красный/أحمر/الأحمر/红/赤/빨강/빨간색/적색
purple/violet/violette/violett/lila/morado/viola/roxo/paars/lilla/violetti/fioletowy/mor/фиолетовый/بنفسجي/紫/보라/보라색
black/noir/noire/schwarz/negro/negra/nero/nera/preto/preta/zwart/sort/svart/musta/czarny/siyah/черный/أسود/黑/검정/흑색

all clear/cleared/lifted/entwarnung/levée/fin d'alerte/afgeblazen/avblåst/解除/解除済み/해제
information*/info/informational/informatif/informativo/informazione/información/informação/informatie/informasjon/informationen/tiedote/tiedoksi/informacja/bilgi/bilgilendirme/информация/معلومات/信息/資訊/情報/정보
notice/note/hinweis/avis/aviso/avviso/melding/bericht/merknad/meddelelse/meddelande/ilmoitus/komunikat/duyuru/уведомление/إشعار/通知/お知らせ/通報/공지
advisory/caution/attention/prudence/precaución/precaution/vorsicht/advies/atención/attenzione/atenção/precauzione/voorzichtig/let op/aktsomhet/forsiktighet/agtpågivenhet/uppmärksamhet/varovaisuus/huomio/uwaga/ostrożność/dikkat/внимание/осторожность/تنبيه/انتباه/注意/注意報/提醒/주의/주의보
watch/vigilance/vorwarnung/vigilancia/vigilanza/waakzaamheid/beredskap/varsel/varsling/valmius/nöbet/наблюдение/ترقب/关注/监视/警戒/관심/경계
warning*/warnung/avertissement/advertencia/avvertenza/avvertimento/waarschuwing/advarsel/varning/varoitus/ostrzeżenie/uyarı/предупреждение/تحذير/警告/警报/预警/警示/경고/경보
alert/alerte/alarm/alerta/allerta/allarme/alarme/alarmering/hälytys/hälytystila/alarmowy/alarm durumu/тревога/إنذار/紧急警报/特別警報/비상경보
emergency/urgent/urgence/notfall/notlage/katastrophe/emergencia/urgente/emergenza/noodgeval/noodsituatie/nødsituasjon/krise/nødsituation/nödläge/hätätila/zagrożenie/stan wyjątkowy/acil/acil durum/чрезвычайная ситуация/طوارئ/紧急/緊急事態/突发/비상/긴급

normal precautions*/exercise normal precautions/exercise normal safety precautions/take normal security precautions/normal safety precautions/normal security precautions/vigilance normale/précautions normales/normale vorsicht/übliche vorsicht/allgemeine vorsicht/precauciones normales/precaución normal/precauções normais/precauzioni normali/normale voorzichtigheid/normale voorzorgsmaatregelen/normal aktsomhet/normal forsiktighet/vær forsigtig/noudata tavanomaista varovaisuutta/zachowaj zwykłą ostrożność/normal önlemler/обычные меры предосторожности/الاحتياطات العادية/注意安全/安全注意/여행유의
increased caution*/exercise increased caution/high degree of caution/exercise a high degree of caution/exercise caution/heightened caution/vigilance renforcée/vigilance accrue/prudence accrue/précautions accrues/grande prudence/erhöhte vorsicht/besondere vorsicht/extremar la precaución/extremar precauciones/precaución reforzada/mayor precaución/cautela redobrada/cautela acrescida/maggiore cautela/particolare cautela/prestare attenzione/verhoogde voorzichtigheid/let op veiligheidsrisico's/let op/økt aktsomhet/forhøyet aktsomhet/vær ekstra forsigtig/ökad försiktighet/iakttag försiktighet/noudata erityistä varovaisuutta/erityinen varovaisuus/zachowaj szczególną ostrożność/szczególna ostrożność/artan dikkat/повышенная осторожность/усиленные меры предосторожности/توخي الحذر/谨慎前往/高度注意/十分注意/여행자제
reconsider travel*/reconsider your need to travel/avoid non-essential travel/avoid all non-essential travel/avoid nonessential travel/essential travel only/all but essential travel/advise against all but essential travel/déconseillé sauf raison impérative/déconseillé sauf raisons impératives/vigilance absolue/voyages non essentiels déconseillés/éviter tout voyage non essentiel/nicht notwendige reisen/abraten von nicht notwendigen reisen/teilreisewarnung/solo viajes esenciales/no viajar salvo por razones de extrema necesidad/no viajar salvo razones de extrema necesidad/evitar viajes no esenciales/evitar viagens não essenciais/sconsigliati viaggi non essenziali/sconsigliati i viaggi non necessari/alleen noodzakelijke reizen/frarår ikke strengt nødvendige reiser/frarår unødvendige reiser/alle ikke-nødvendige rejser frarådes/ikke-nødvendige rejser frarådes/avrådan från icke nödvändiga resor/vältä tarpeetonta matkustamista/vältä ei-välttämätöntä matkustamista/odradzamy podróże które nie są konieczne/zorunlu olmadıkça seyahat etmeyin/воздержаться от необязательных поездок/عدم السفر إلا للضرورة/暂勿前往/不要不急の渡航は止めて/철수권고/출국권고
do not travel*/avoid all travel/against all travel/advise against all travel/no travel/formellement déconseillé/voyages formellement déconseillés/déconseillé/éviter tout voyage/reisewarnung/no viajar/no viajar bajo ninguna circunstancia/evitar todo viaje/desaconsejado todo viaje/não viajar/evitar todas as viagens/não viaje/non viaggiare/sconsigliati i viaggi/sconsigliati tutti i viaggi/niet reizen/reis niet/frarår alle reiser/alle rejser frarådes/avrådan från alla resor/avråder från alla resor/vältä kaikkea matkustamista/odradzamy wszelkie podróże/seyahat etmeyin/не рекомендуется посещать/воздержаться от любых поездок/عدم السفر/请勿前往/切勿前往/渡航は止めて/渡航中止勧告/여행금지
leave now/leave immediately/evacuate/depart immediately/quitter le pays/ausreiseaufforderung/sofortige ausreise/ausreise/abandonar el país/salir del país/lasciare il paese/deixar o país/verlaat het land/forlat landet/udrejse straks/lämna landet/poistu maasta/poistu välittömästi maasta/natychmiast opuść kraj/ülkeyi terk edin/покинуть страну/المغادرة فورا/尽快撤离/立即撤离/退避勧告/退避してください/특별여행경보
`

// severityScale is a list of levels, the lowest first.
type severityScale struct {
	english []string       // the first word of each level
	usual   []int          // levels that are always on it
	place   map[string]int // a label, as severityWords has it, to its level
	longest int            // words of a label
}

type severityTable []severityScale

var severity = func() (scales severityTable) {
	for text := range strings.SplitSeq(strings.TrimSpace(severityScales), "\n\n") {
		s := severityScale{place: map[string]int{}}
		ended := map[string]int{}
		for i, line := range strings.Split(text, "\n") {
			for word := range strings.SplitSeq(line, "/") {
				word, usual := strings.CutSuffix(word, "*")
				if usual {
					s.usual = append(s.usual, i)
				}
				if len(s.english) == i {
					s.english = append(s.english, word)
				}
				for _, word := range vocabulary.Spellings(word) {
					words := severityWords(word)
					word, s.longest = strings.Join(words, " "), max(s.longest, len(words))
					if _, again := s.place[word]; !again {
						s.place[word] = i
					}
					for _, form := range withEndings(word) {
						if _, again := ended[form]; !again {
							ended[form] = i
						}
					}
				}
			}
		}
		for form, i := range ended {
			if _, known := s.place[form]; !known {
				s.place[form] = i
			}
		}
		scales = append(scales, s)
	}
	return scales
}()

// withEndings returns the forms of an adjective, folded, in languages in which it has endings: -e, -es,
// -er, -en and -t after a consonant; the genders and plurals of -o; of Polish -i and -y; of Russian ones.
func withEndings(word string) (forms []string) {
	letters := []rune(word)
	if len(letters) < 4 || strings.Contains(word, " ") {
		return nil
	}
	stem, last := string(letters[:len(letters)-1]), letters[len(letters)-1]
	add := func(stem, endings string) {
		for ending := range strings.FieldsSeq(endings) {
			forms = append(forms, stem+ending)
		}
	}
	switch {
	case last == 'o':
		add(stem, "a os as i e")
	case last == 'i' || last == 'y':
		add(stem, "a e y ie")
		add(word, "e")
	case last == 'и' && len(letters) > 4: // й, folded
		add(string(letters[:len(letters)-2]), "ая яя ое ее ые ие")
	case last < unicode.MaxLatin1 && !strings.ContainsRune("aeu", last):
		add(word, "e es er en em t s a")
	}
	return forms
}

// severityWords returns the words of a label, folded, without signs and numbers.
func severityWords(label string) []string {
	return strings.FieldsFunc(label, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) })
}

// placeOf returns the level of a label, folded, which may stand among other words, as in High risk,
// Niveau élevé and 高リスク.
func (s *severityScale) placeOf(label string) (int, bool) {
	const most, longest = 4, 120 // words for each of the label, bytes
	words := severityWords(label)
	for n := min(len(words), s.longest); n > 0; n-- {
		found, place := 0, 0
		for i := range len(words) - n + 1 {
			at, ok := s.place[strings.Join(words[i:i+n], " ")]
			if ok && (found == 0 || at != place) {
				found++
				place = at
			}
		}
		if found > 0 {
			return place, found == 1 && len(words) <= most*n
		}
	}
	if len(label) > longest {
		return 0, false
	}
	return s.within(words)
}

// within returns the level of the longest label in words of a script without spaces, if there is one.
func (s *severityScale) within(words []string) (place int, ok bool) {
	longest := 0
	for _, word := range words {
		if !strings.ContainsFunc(word, isUnspaced) {
			continue
		}
		for label, at := range s.place {
			if len(label) < longest || !strings.Contains(word, label) {
				continue
			}
			if len(label) > longest {
				place, ok, longest = at, true, len(label)
			} else if at != place {
				ok = false
			}
		}
	}
	return place, ok
}

// isUnspaced reports whether a letter is of a script that has no spaces between words.
func isUnspaced(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// unspaced returns how many letters of a text are of such scripts.
func unspaced(text string) (n int) {
	for _, c := range text {
		if isUnspaced(c) {
			n++
		}
	}
	return n
}

// english returns the English word of a risk level, folded, in any language.
func (t severityTable) english(label string) (string, bool) {
	at, ok := t[0].place[label]
	if !ok {
		return "", false
	}
	return t[0].english[at], true
}

// atLeast reports whether a word, folded, is that of a risk level, or of a higher one.
func (t severityTable) atLeast(word, level string) bool {
	at, ok := t[0].place[word]
	return ok && at >= t[0].place[level]
}

// isLow reports whether a word, folded, is that of a risk level of at most moderate.
func (t severityTable) isLow(word string) bool {
	at, ok := t[0].place[word]
	return ok && at <= t[0].place["moderate"]
}

// severities returns the levels of labels, folded, that are all on one scale.
func severities(labels []string) (map[string]int, bool) {
	if len(labels) < 2 {
		return nil, false
	}
	for i := range severity {
		s := &severity[i]
		places := map[string]int{}
		var all []int
		for _, label := range labels {
			if place, ok := s.placeOf(label); ok {
				places[label] = place
				all = append(all, place)
			}
		}
		slices.Sort(all)
		if all = slices.Compact(all); len(places) < len(labels) || len(all) < 2 {
			continue
		}
		on := s.ladderFor(all)
		all = append(all, s.usual...)
		slices.Sort(all)
		all = slices.Compact(all)
		levels := map[string]int{}
		for label, place := range places {
			if on != nil {
				levels[label] = on.level(s.english[place])
				continue
			}
			levels[label], _ = riskScale{low: 0, high: len(all) - 1}.level(float64(slices.Index(all, place)))
		}
		return levels, true
	}
	return nil, false
}

// ladderFor returns the usual scale that has all of the levels, or nil.
func (s *severityScale) ladderFor(places []int) *ladder {
	var labels []string
	for _, place := range places {
		labels = append(labels, s.english[place])
	}
	return ladderWith(labels)
}
