// Package reuse keeps strings and maps of earlier values, so that decoding similar values allocates
// little memory.
package reuse

// These limit the maps that a Memory holds: their number, and the number of entries that a map had when
// it was given.
const (
	maxMaps    = 1 << 11
	maxEntries = 8
)

// A Memory holds short strings, which values share, and maps, which belong to one value at a time. The
// zero Memory is empty. A Memory must not be used concurrently.
type Memory struct {
	strings table
	// given holds maps of the last value, and free holds maps that can be reused.
	given, free []map[string]any
}

// NewMap returns an empty map.
func (m *Memory) NewMap() map[string]any {
	last := len(m.free) - 1
	if last < 0 {
		return make(map[string]any)
	}
	v := m.free[last]
	m.free[last] = nil
	m.free = m.free[:last]
	return v
}

// Give records a map of the current value.
func (m *Memory) Give(v map[string]any) {
	if len(v) <= maxEntries && len(m.given) < maxMaps {
		m.given = append(m.given, v)
	}
}

// Reuse permits NewMap to return the maps that were given since the last call of Reuse or Forget.
// Nothing may use them afterwards.
func (m *Memory) Reuse() {
	for _, v := range m.given[:min(len(m.given), maxMaps-len(m.free))] {
		clear(v)
		m.free = append(m.free, v)
	}
	m.Forget()
}

// Forget drops the maps that were given.
func (m *Memory) Forget() {
	clear(m.given)
	m.given = m.given[:0]
}
