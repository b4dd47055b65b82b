package command

import (
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	t.Parallel()
	stamp := []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-11-22T19:00:00Z"}, {Key: "vcs.modified", Value: "false"}}
	changed := append(stamp[:3:3], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{stamp, "commit 0123abc of 2026-11-22\n"},
		{changed, "commit 0123abc of 2026-11-22, with changes\n"},
	} {
		if got := commit(c.settings); got != c.want {
			t.Errorf("%v: got %q, want %q", c.settings, got, c.want)
		}
	}
}
