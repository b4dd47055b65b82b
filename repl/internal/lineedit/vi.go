package lineedit

import (
	"slices"
	"strings"
	"unicode"
)

// vi processes the keys of vi's normal mode. Readline's own vi mode panics at the ends of a line and
// does not return after some keys.
type vi struct {
	normal  bool
	pending []rune // the beginning of a command of several keys
	deleted []rune // what p inserts
}

func (v *vi) reset() { v.normal, v.pending = false, nil }

// takes reports whether r is a command of vi and not a key of readline.
func (v *vi) takes(r rune) bool {
	if !v.normal {
		return r == KeyEscape
	}
	return len(v.pending) > 0 && !ends(r, nil) || r == KeyEscape || r >= ' ' && r != KeyBackspace && (r < keyFirst || r > keyLast)
}

// key returns the action of a key that v takes.
func (v *vi) key(r rune, line []rune, pos int) Action {
	if r == KeyEscape {
		if !v.normal {
			pos--
		}
		v.normal, v.pending = true, nil
		return v.at(line, pos)
	}
	v.pending = append(v.pending, r)
	keys := string(v.pending)
	if strings.Contains("rfFtTdc", keys) && len(keys) == 1 || len(v.pending) == 2 && strings.ContainsRune("dc", v.pending[0]) && strings.ContainsRune("fFtT", r) {
		return Action{Key: KeyNone}
	}
	v.pending = nil
	return v.command([]rune(keys), slices.Clone(line), pos)
}

// at returns the action that sets the line and moves the cursor to a character of it.
func (v *vi) at(line []rune, pos int) Action {
	if v.normal {
		pos = min(pos, len(line)-1)
	}
	return replace(line, pos)
}

func (v *vi) command(keys []rune, line []rune, pos int) Action {
	switch key := keys[0]; key {
	case 'j':
		return Action{Key: KeyDown}
	case 'k':
		return Action{Key: KeyUp}
	case 'd', 'c':
		return v.operate(key == 'c', keys[1:], line, pos)
	case 'x':
		return v.cut(line, pos, pos+1)
	case 'X':
		return v.cut(line, pos-1, pos)
	case 'D':
		return v.cut(line, pos, len(line))
	case 'C', 's', 'S':
		from, to := pos, len(line)
		switch key {
		case 's':
			to = pos + 1
		case 'S':
			from = 0
		}
		v.normal = false
		return v.cut(line, from, to)
	case 'r':
		if pos < len(line) && keys[1] >= ' ' && (keys[1] < keyFirst || keys[1] > keyLast) {
			line[pos] = keys[1]
		}
		return v.at(line, pos)
	case 'p', 'P':
		if key == 'p' {
			pos = min(pos+1, len(line))
		}
		return v.at(slices.Insert(line, pos, v.deleted...), pos+len(v.deleted)-1)
	case 'i', 'a', 'I', 'A':
		v.normal = false
		return replace(line, map[rune]int{'i': pos, 'a': pos + 1, 'I': 0, 'A': len(line)}[key])
	}
	if to, _, ok := motion(keys, line, pos); ok {
		return v.at(line, to)
	}
	return Action{Key: KeyNone, Bell: true}
}

// operate deletes the text of a motion, or the line if the operator is repeated.
func (v *vi) operate(change bool, keys []rune, line []rune, pos int) Action {
	from, to := 0, len(line)
	if operator := map[bool]rune{false: 'd', true: 'c'}[change]; keys[0] != operator {
		end, inclusive, ok := motion(keys, line, pos)
		if !ok {
			return Action{Key: KeyNone, Bell: true}
		}
		if change && keys[0] == 'w' {
			end, inclusive, _ = motion([]rune{'e'}, line, pos)
		}
		from, to = min(pos, end), max(pos, end)
		if inclusive && end >= pos {
			to++
		}
	}
	v.normal = v.normal && !change
	return v.cut(line, from, to)
}

func (v *vi) cut(line []rune, from, to int) Action {
	from, to = max(0, min(from, len(line))), max(0, min(to, len(line)))
	if from < to {
		v.deleted = slices.Clone(line[from:to])
		line = slices.Delete(line, from, to)
	}
	return v.at(line, from)
}

// motion returns the position that a motion leads to. inclusive is set if an operator also applies to
// the character there.
func motion(keys []rune, line []rune, pos int) (to int, inclusive, ok bool) {
	switch keys[0] {
	case 'h':
		return pos - 1, false, true
	case 'l', ' ':
		return pos + 1, false, true
	case '0':
		return 0, false, true
	case '^':
		return max(0, slices.IndexFunc(line, func(r rune) bool { return r != ' ' })), false, true
	case '$':
		return len(line), false, true
	case 'w', 'W':
		return wordStart(line, pos), false, true
	case 'b', 'B':
		return wordBefore(line, pos), false, true
	case 'e', 'E':
		return wordEnd(line, pos), true, true
	case 'f', 'F', 't', 'T':
		return find(keys, line, pos)
	}
	return 0, false, false
}

// find returns the position of a character to the right or left of pos.
func find(keys []rune, line []rune, pos int) (to int, inclusive, ok bool) {
	if len(keys) < 2 {
		return 0, false, false
	}
	step := 1
	if keys[0] == 'F' || keys[0] == 'T' {
		step = -1
	}
	for i := pos + step; i >= 0 && i < len(line); i += step {
		if line[i] == keys[1] {
			if keys[0] == 't' || keys[0] == 'T' {
				i -= step
			}
			return i, step > 0, true
		}
	}
	return 0, false, false
}

// class returns the kind of word that a character belongs to; 0 is a space.
func class(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 1
	}
	return 2
}

func wordStart(line []rune, pos int) int {
	i := pos
	for i < len(line) && class(line[i]) == class(line[pos]) {
		i++
	}
	for i < len(line) && class(line[i]) == 0 {
		i++
	}
	return i
}

func wordBefore(line []rune, pos int) int {
	i := min(pos, len(line)) - 1
	for i > 0 && class(line[i]) == 0 {
		i--
	}
	for i > 0 && class(line[i-1]) == class(line[i]) {
		i--
	}
	return i
}

func wordEnd(line []rune, pos int) int {
	i := pos + 1
	for i < len(line) && class(line[i]) == 0 {
		i++
	}
	for i+1 < len(line) && class(line[i+1]) == class(line[i]) {
		i++
	}
	return i
}
