package repl

import (
	"fmt"
	"strings"
)

// previewSetting is the setting that :set changes: whether a preview appears while a line is typed.
const previewSetting = "preview"

// onOff are the values of previewSetting.
var onOff = []string{"on", "off"}

// setPreview implements :set preview [on|off]. ok is false if arg is not about the setting; an assignment to a field of
// the same name has a "=".
func (s *Session) setPreview(arg string) (text string, ok bool, err error) {
	name, value, _ := strings.Cut(arg, " ")
	if name != previewSetting || strings.Contains(arg, "=") {
		return "", false, nil
	}
	switch strings.TrimSpace(value) {
	case "":
		if s.noPreview {
			return "preview off\n", true, nil
		}
		return "preview on\n", true, nil
	case "on":
		s.noPreview = false
	case "off":
		s.noPreview = true
	default:
		return "", true, fmt.Errorf(":set %s %s: want %s", name, value, strings.Join(onOff, " or "))
	}
	return "", true, nil
}
