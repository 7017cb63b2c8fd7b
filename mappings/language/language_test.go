package language

import "testing"

func TestOf(t *testing.T) {
	d := New()
	for _, c := range []struct{ want, text string }{
		{"en", "Demonstrations are expected near the ministry on Friday; avoid the area, and allow two hours more to the airport."},
		{"en", "Roads between La Paz, El Alto and Santa Cruz de la Sierra are closed because of a strike of the drivers' unions."},
		{"fr", "Des manifestations sont attendues près du ministère vendredi ; évitez le quartier et prévoyez deux heures de plus pour l’aéroport."},
		{"es", "Se esperan manifestaciones cerca del ministerio el viernes; evite la zona y calcule dos horas más para llegar al aeropuerto."},
		{"pt", "Esperam-se manifestações perto do ministério na sexta-feira; evite a zona e conte com mais duas horas até ao aeroporto."},
		{"de", "Am Freitag werden Kundgebungen vor dem Ministerium erwartet; meiden Sie die Gegend und planen Sie zwei Stunden mehr ein."},
		{"it", "Venerdì sono previste manifestazioni vicino al ministero; evitate la zona e calcolate due ore in più per l’aeroporto."},
		{"nl", "Vrijdag worden betogingen bij het ministerie verwacht; mijd de omgeving en reken op twee uur extra naar de luchthaven."},
		{"sv", "Demonstrationer väntas vid departementet på fredag; undvik området och räkna med två timmar extra till flygplatsen."},
		{"da", "Der ventes demonstrationer ved ministeriet på fredag; undgå området, og regn med to timer mere til lufthavnen, hvor mange af gaderne bliver lukket."},
		{"nb", "Det ventes demonstrasjoner ved departementet på fredag; unngå området, og regn med to timer mer til flyplassen, hvor mange av gatene blir stengt."},
		{"fi", "Perjantaina ministeriön lähellä on odotettavissa mielenosoituksia, ja lentokentälle on varattava kaksi tuntia enemmän, koska kadut ovat täynnä."},
		{"tr", "Cuma günü bakanlığın önünde gösteriler bekleniyor; bölgeden uzak durun ve havaalanı için iki saat daha ayırın."},
		{"pl", "W piątek przed ministerstwem odbędą się demonstracje, dlatego należy omijać ten rejon i doliczyć dwie godziny na dojazd do lotniska."},
		{"ru", "В пятницу у министерства ожидаются демонстрации; избегайте этого района и выезжайте в аэропорт на два часа раньше."},
		{"ar", "من المتوقع خروج مظاهرات قرب الوزارة يوم الجمعة؛ تجنبوا المنطقة وخصصوا ساعتين إضافيتين للوصول إلى المطار."},
		{"zh", "预计星期五政府部门附近将有示威活动,请避开该地区,并预留两小时前往机场。"},
		{"ja", "金曜日に省庁の近くでデモが予想されます。周辺を避け、空港までは二時間の余裕を持ってください。"},
		{"ko", "금요일에 정부 청사 근처에서 시위가 예상됩니다. 해당 지역을 피하고 공항까지 두 시간의 여유를 두십시오."},
		{"", "У п'ятницю біля міністерства очікуються демонстрації; уникайте цього району і їдьте до аеропорту раніше."},
		{"", "Москва"},
		{"", "東京"},
		{"", "LHR, LGW, STN"},
		{"", ""},
	} {
		if got := d.Of([]byte(c.text), Sure); got != c.want {
			t.Errorf("%q: got %q, want %q, by %q", c.text, got, c.want, d.Words([]byte(c.text), got))
		}
	}
	for _, c := range []struct{ want, text string }{{"fr", "Grève des transports à Lyon"}, {"ja", "東京で停電"}, {"", "Lagos"}} {
		if got := d.Of([]byte(c.text), 2); got != c.want {
			t.Errorf("%q, which is short: got %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	d := New()
	f.Add([]byte("l’île et la plage"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		d.Words(text, d.Of(text, 1))
	})
}

func BenchmarkOf(b *testing.B) {
	d := New()
	text := []byte("Demonstrations are expected near the ministry on Friday; avoid the area, and allow two hours more to the airport. ")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d.Of(text, Sure)
	}
}
