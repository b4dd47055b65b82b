package main

import (
	"fmt"
	"image"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesInBrowser renders a page in a headless Chromium (CELADON_BROWSER), narrow and wide, light and
// dark. It checks that the page is not empty, that nothing is cut off on the right, and that text from the
// CRD is escaped. Run it with make -C site shown. CELADON_SHOTS names a folder that keeps the screenshots.
func TestPagesInBrowser(t *testing.T) {
	browser := os.Getenv("CELADON_BROWSER")
	if browser == "" {
		t.Skip("CELADON_BROWSER names no Chromium: no page was looked at")
	}
	dir := os.Getenv("CELADON_SHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	for _, crd := range []string{"../../x/publish/testdata/everything.yaml", crontabCRD} {
		name := filepath.Base(filepath.Dir(crd))
		page := filepath.Join(dir, name+".html")
		if err := os.WriteFile(page, jsonOf(t, "docs", "--crd", crd, "-o", "html"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{360, 800, 1600} {
			for _, dark := range []bool{false, true} {
				shot := filepath.Join(dir, fmt.Sprintf("%s-%d-%t.png", name, width, dark))
				picture := screenshot(t, browser, page, shot, width, dark)
				lookAt(t, shot, picture, dark)
			}
		}
		if dom := browse(t, browser, page, "--dump-dom"); strings.Contains(dom, "<script") || strings.Contains(dom, "<b>") {
			t.Errorf("%s: a text of the CRD is part of the page", crd)
		}
	}
}

func browse(t *testing.T, browser, page string, args ...string) string {
	t.Helper()
	full, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + t.TempDir()}, args...)
	cmd := exec.CommandContext(t.Context(), browser, append(args, (&url.URL{Scheme: "file", Path: full}).String())...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", browser, err)
	}
	return string(out)
}

func screenshot(t *testing.T, browser, page, shot string, width int, dark bool) image.Image {
	t.Helper()
	args := []string{fmt.Sprintf("--window-size=%d,4000", width), "--screenshot=" + shot}
	if dark {
		args = append(args, "--blink-settings=preferredColorScheme=0")
	}
	browse(t, browser, page, args...)
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func lookAt(t *testing.T, shot string, picture image.Image, dark bool) {
	t.Helper()
	bounds := picture.Bounds()
	back := picture.At(bounds.Min.X, bounds.Min.Y)
	if r, _, _, _ := back.RGBA(); (r < 0x8000) != dark {
		t.Errorf("%s: the background is %v", shot, back)
	}
	inked, cut := 0, 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if picture.At(x, y) != back {
				inked++
				if x >= bounds.Max.X-4 {
					cut++
				}
			}
		}
	}
	if inked < bounds.Dx()*bounds.Dy()/100 || cut > 0 {
		t.Errorf("%s: %d pixels are not background, %d of them on the right edge", shot, inked, cut)
	}
}
