//go:build unix

package input

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func scanned(paths ...string) []string {
	var got []string
	Scan(strings.NewReader(""), paths, func() {}, func(c Chunk) bool {
		return c.Each(func(d *Document) bool {
			got = append(got, filepath.Base(d.File)+" "+seen(d))
			return true
		})
	})
	return got
}

func TestNoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	for _, sub := range []string{"folder/..2024/deep", "folder/dir.yaml", "folder/.hidden"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"out.yaml": "name: out", "folder/a.yaml": "name: a", "folder/..2024/mounted.yaml": "name: mounted"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"b-out": "../out.yaml", "c-abs": dir + "/folder/a.yaml", "d-zero": "/dev/zero", "e-loop": "e-loop.yaml", "f-gone": "gone", "g-dir": "dir.yaml",
		"h-in": "a.yaml", "i-pipe": "pipe.yaml", "j-up": "../folder/a.yaml", "k-mounted": "..data/mounted.yaml",
	} {
		if err := os.Symlink(to, filepath.Join(folder, link+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..2024", filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(folder, "socket.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	link := "link: %s: want a link to a file in the same folder"
	want := []string{
		"a.yaml 0/0:1: a",
		"b-out.yaml 0/0:0: " + fmt.Sprintf(link, "path escapes from parent"),
		"c-abs.yaml 0/0:0: " + fmt.Sprintf(link, "path escapes from parent"),
		"d-zero.yaml 0/0:0: " + fmt.Sprintf(link, "path escapes from parent"),
		"e-loop.yaml 0/0:0: " + fmt.Sprintf(link, "too many levels of symbolic links"),
		"f-gone.yaml 0/0:0: " + fmt.Sprintf(link, "no such file or directory"),
		"g-dir.yaml 0/0:0: a folder: want a regular file",
		"h-in.yaml 0/0:1: a",
		"i-pipe.yaml 0/0:0: a named pipe: want a regular file",
		"j-up.yaml 0/0:0: " + fmt.Sprintf(link, "path escapes from parent"),
		"k-mounted.yaml 0/0:1: mounted",
		"pipe.yaml 0/0:0: a named pipe: want a regular file",
		"socket.yaml 0/0:0: a socket: want a regular file",
	}
	if diff := cmp.Diff(want, scanned(folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"d-zero.yaml": "a link to a device: want a link to a regular file",
		"i-pipe.yaml": "a link to a named pipe: want a link to a regular file",
		"..data":      "0/0:1: mounted", // a link to a folder
		"b-out.yaml":  "0/0:1: out",
	} {
		if got := scanned(filepath.Join(folder, name)); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s named by hand: %q, want %q", name, got, want)
		}
	}
}

func TestPipesByHand(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(w, "name: a")
		w.Close()
		_ = os.WriteFile(fifo, []byte("name: b"), 0)
	}()
	want := []string{fmt.Sprintf("%d 0/0:1: a", r.Fd()), "fifo 0/0:1: b"}
	if diff := cmp.Diff(want, scanned(fmt.Sprintf("/dev/fd/%d", r.Fd()), fifo)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFileChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	read := func(change func() error) []string {
		var got []string
		if err := os.WriteFile(path, []byte("name: a"), 0o644); err != nil {
			t.Fatal(err)
		}
		Scan(nil, []string{filepath.Dir(path)}, func() {}, func(c Chunk) bool {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			return c.Each(func(d *Document) bool {
				got = append(got, seen(d))
				return true
			})
		})
		_ = os.Remove(path)
		return got
	}
	grown := read(func() error { return os.WriteFile(path, []byte(strings.Repeat("name: b\n---\n", 200_000)), 0o644) })
	if len(grown) != 200_000 {
		t.Errorf("%d objects of a file that has grown, want 200000", len(grown))
	}
	if got := read(func() error { return os.Remove(path) }); len(got) != 1 || !strings.Contains(got[0], "no such file") {
		t.Errorf("missing document: %q", got)
	}
	if got := read(func() error { return os.Rename(path, path+"x") }); len(got) != 1 {
		t.Errorf("moved: %q", got)
	}
	if got := read(func() error { _ = os.Remove(path); return syscall.Mkfifo(path, 0o600) }); len(got) != 1 || !strings.Contains(got[0], "a named pipe") {
		t.Errorf("a pipe: %q", got)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	many := func(text string, size int) io.Reader { return &repeated{text: text, left: size} }
	good := strings.NewReader
	for name, test := range map[string]struct {
		r     io.Reader
		want  string // of the first error
		after bool   // the object after it is read
	}{
		"document":       {io.MultiReader(many("name: x\n", 100<<20), good("---\nname: good")), "a YAML document of more than 32 MiB", true},
		"line":           {io.MultiReader(many("x", 40<<20), good("\n---\nname: good")), "a line of more than 16 MiB", true},
		"endless line":   {many("\x00", 1<<30), "a line of more than 16 MiB", false},
		"string":         {io.MultiReader(good(`{"a": "`), many("x", 1<<30)), "the end was not found", false},
		"key":            {io.MultiReader(good(`{"`), many("x", 1<<30)), "the end was not found", false},
		"word":           {io.MultiReader(good(`{"a": `), many("x", 1<<30)), "invalid character 'x' after a field's value", false},
		"blanks":         {io.MultiReader(good(`{"a": `), many(" ", 1<<30)), "unexpected EOF", false},
		"nested":         {many(`{"a":[`, 1<<30), "the end was not found", false},
		"nested lines":   {many("{\"a\":[\n", 2<<20), "unexpected EOF", false},
		"nested items":   {io.MultiReader(good("{\"apiVersion\":\"v1\",\"items\":[\n"), many("{\"a\":[\n", 2<<20)), "unexpected EOF", false},
		"nested lists":   {many("{\"kind\":\"List\",\"items\":[\n", 4<<20), "unexpected EOF", false},
		"inline items":   {io.MultiReader(good(`{"apiVersion":"v1","items":[`), many(`{"kind":[`, 2<<20)), "unexpected EOF", false},
		"values":         {io.MultiReader(good(`{"a":[0`), many(",0", 4<<20), good("]}\n"+`{"name":"good"}`)), "more than 1048576 values", true},
		"values in YAML": {io.MultiReader(good("a:\n"), many("- b\n", 8<<20), good("---\nname: good")), "more than 1048576 values", true},
	} {
		t.Run(name, func(t *testing.T) {
			first, after, most := "", false, 0
			s := splitter{file: "f", w: newWindow(test.r, func() {})}
			s.yield = func(c Chunk) bool {
				most = max(most, cap(s.w.buf))
				return c.Each(func(d *Document) bool {
					if d.Err != nil && first == "" {
						first = d.Err.Error()
					}
					after = after || d.Object["name"] == "good"
					return true
				})
			}
			s.run()
			most = max(most, cap(s.w.buf))
			if !strings.Contains(first, test.want) || after != test.after {
				t.Errorf("%q, following input is read: %t, want %q and %t", first, after, test.want, test.after)
			}
			if most > 4*maxDocument {
				t.Errorf("%d bytes are held", most)
			}
		})
	}
}

type repeated struct {
	text string
	at   int
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	r.left -= n
	return n, nil
}
