//go:build minor38

package main

func ratchets() bool { return true }
