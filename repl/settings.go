package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// settings holds the values of :set NAME VALUE. The zero value is the default.
type settings struct {
	// noPreview turns off the preview of the value while a line is typed.
	noPreview bool
	// noColor turns off colors.
	noColor bool
	// columns is the width of replies, or 0 for the width of the terminal.
	columns int
}

// A setting is a value that :set NAME VALUE changes.
type setting struct {
	name, values string
	get          func(*settings) string
	// set returns false if the value is not allowed.
	set func(*settings, string) bool
}

// allSettings returns the settings in the order of :set.
func allSettings() []setting {
	return []setting{
		{"preview", "on|off", func(s *settings) string { return onOff(!s.noPreview) }, func(s *settings, v string) bool {
			return parseOnOff(v, &s.noPreview)
		}},
		{"color", "on|off", func(s *settings) string { return onOff(!s.noColor) }, func(s *settings, v string) bool {
			return parseOnOff(v, &s.noColor)
		}},
		{"width", fmt.Sprintf("auto|%d to %d", minColumns, maxColumns), func(s *settings) string {
			if s.columns == 0 {
				return "auto"
			}
			return strconv.Itoa(s.columns)
		}, func(s *settings, v string) bool {
			n, err := strconv.Atoi(v)
			if v == "auto" {
				n, err = 0, nil
			}
			s.columns = n
			return err == nil && (v == "auto" || n >= minColumns && n <= maxColumns)
		}},
	}
}

// minColumns and maxColumns limit the width that a user sets.
const (
	minColumns = 20
	maxColumns = 10_000
)

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// parseOnOff sets off to whether text is "off". It returns false if text is neither "on" nor "off".
func parseOnOff(text string, off *bool) bool {
	*off = text == "off"
	return text == "on" || text == "off"
}

// settingNamed returns the setting that the argument of :set begins with. An assignment to a field
// of the same name has a "=".
func settingNamed(arg string) (s setting, value string, ok bool) {
	name, value, _ := strings.Cut(arg, " ")
	i := slices.IndexFunc(allSettings(), func(s setting) bool { return s.name == name })
	if i < 0 || strings.Contains(arg, "=") {
		return setting{}, "", false
	}
	return allSettings()[i], strings.TrimSpace(value), true
}

// changeSetting sets a setting, or prints it if value is empty.
func (s *Session) changeSetting(chosen setting, value string) (string, error) {
	if value == "" {
		return fmt.Sprintf("%s %s\n", chosen.name, chosen.get(&s.settings)), nil
	}
	next := s.settings
	if !chosen.set(&next, value) {
		return "", fmt.Errorf(":set %s %s: want %s", chosen.name, value, strings.ReplaceAll(chosen.values, "|", " or "))
	}
	if next.columns != s.settings.columns {
		s.Width = next.columns // a terminal sets its own width before the next line
	}
	s.settings = next
	return "", nil
}

func settingNames(*Session) []string {
	var names []string
	for _, s := range allSettings() {
		names = append(names, s.name)
	}
	return names
}
