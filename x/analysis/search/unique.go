package search

import "strconv"

// uniqueItems are the items of a list. In a set they must be unique; in a map list their keys must
// be.
type uniqueItems struct {
	items []any
	set   bool
	keys  []string
	seen  map[string]bool // nil if items may be equal
}

func itemsOf(n node, items []any) *uniqueItems {
	l := &uniqueItems{items: items, keys: n.listKeys(), set: n.isSet()}
	if l.set || len(l.keys) > 0 {
		l.seen = make(map[string]bool, len(items))
		for _, item := range items {
			l.seen[l.id(item)] = true
		}
	}
	return l
}

// id returns a string that is equal for items that cannot be in the same list.
func (l *uniqueItems) id(item any) string {
	if len(l.keys) == 0 {
		return jsonOf(item)
	}
	obj, _ := item.(map[string]any)
	values := make([]any, len(l.keys))
	for i, k := range l.keys {
		values[i] = obj[k]
	}
	return jsonOf(values)
}

func (l *uniqueItems) takes(item any) bool { return l.seen == nil || !l.seen[l.id(item)] }

func (l *uniqueItems) add(item any) {
	l.items = append(l.items, item)
	if l.seen != nil {
		l.seen[l.id(item)] = true
	}
}

func (m *maker) another(l *uniqueItems, n node, f *facts, depth int) {
	items := n.items()
	var item any
	for range 8 {
		if item = m.value(items, f.items(), depth+1); item == nil || l.takes(item) {
			break
		}
	}
	if item == nil {
		return
	}
	if !l.takes(item) {
		item = m.distinguish(l, item, n)
	}
	if l.takes(item) {
		l.add(item)
	}
}

// distinguish changes a key of an item, or an item of a set that is not an object, so that the list
// takes it. It returns the item unchanged if that fails.
func (m *maker) distinguish(l *uniqueItems, item any, n node) any {
	obj, ok := item.(map[string]any)
	if !ok {
		if l.set {
			return m.unlike(n.items(), item, l.takes)
		}
		return item
	}
	for i := len(l.keys) - 1; i >= 0; i-- {
		at := n.items().field(l.keys[i])
		was := obj[l.keys[i]]
		obj[l.keys[i]] = m.unlike(at, was, func(v any) bool {
			obj[l.keys[i]] = v
			return l.takes(item)
		})
		if l.takes(item) {
			break
		}
		obj[l.keys[i]] = was
	}
	return item
}

// unlike returns another value for which will returns true, or v if it finds no such value.
func (m *maker) unlike(n node, v any, will func(any) bool) any {
	f := m.facts(n, nil)
	for _, e := range f.enum {
		if will(e) {
			return e
		}
	}
	if len(f.enum) > 0 {
		return v
	}
	switch v := v.(type) {
	case string:
		for _, s := range m.texts.all(f.text) {
			if will(s) {
				return s
			}
		}
		m.fresh++
		for _, s := range m.texts.numbered(f.text, v, m.fresh) {
			if will(s) {
				return s
			}
		}
	case int64:
		step := max(1, int64(f.multipleOf))
		for d := int64(1); d <= 100; d++ {
			m.fresh++
			for _, other := range []int64{v + d*step, v - d*step, v + int64(m.fresh)*step} {
				if f.fits(float64(other)) && will(other) {
					return other
				}
			}
		}
	case float64:
		m.fresh++
		for _, other := range []float64{v + 1, v + float64(m.fresh)} {
			if f.fits(other) && will(other) {
				return other
			}
		}
	case bool:
		if will(!v) {
			return !v
		}
	}
	return v
}

// numbered returns strings that meet w and contain n in digits or letters. They make many unique
// strings possible.
func (t *texts) numbered(w textWant, from string, n int) (all []string) {
	if len(from) > longText {
		from = word
	}
	letters := ""
	for i := n; i > 0; i /= 26 {
		letters += string(rune('a' + i%26))
	}
	for _, number := range []string{strconv.Itoa(n), letters} {
		for _, base := range []string{word, from, ""} {
			runes := []rune(base)
			for _, at := range []int{len(runes), min(1, len(runes))} {
				if s := string(runes[:at]) + number + string(runes[at:]); t.has(w, s) {
					all = append(all, s)
				}
			}
		}
	}
	return all
}
