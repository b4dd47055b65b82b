package main

import "testing"

func TestFormats(t *testing.T) {
	t.Parallel()
	for of, want := range map[float64]string{2.054: "2.05", 1: "1.00", 0.25: "0.25", 0.0667: "1/15", 0.0031: "1/323", 12.345: "12.35"} {
		if got := ratio(of); got != want {
			t.Errorf("ratio %v: got %s, want %s", of, got, want)
		}
	}
	for value, want := range map[float64]string{0.024: "0.02 s", 4.347: "4.35 s", 16.94: "16.9 s", 3210.4: "3210 s"} {
		if got := figure(value, "s"); got != want {
			t.Errorf("figure %v: got %s, want %s", value, got, want)
		}
	}
	if got := trimmedLines("a  \nb\n \n"); got != "a\nb\n\n" {
		t.Errorf("trimmed lines are %q", got)
	}
}

func TestChosenSections(t *testing.T) {
	t.Parallel()
	if all, err := chosenSections(""); err != nil || len(all) != len(sections) {
		t.Errorf("%d sections, %v", len(all), err)
	}
	if some, err := chosenSections("vet,check"); err != nil || len(some) != 2 || some[0].name != "vet" || some[1].name != "check" {
		t.Errorf("got %v, %v", some, err)
	}
	if _, err := chosenSections("nope"); err == nil || err.Error() != `section "nope": want start, check, find, rules, compile, vet` {
		t.Errorf("got error %v", err)
	}
}
