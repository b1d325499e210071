package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"
	"time"
)

// signer makes the token of a list (RFC 7515, EdDSA) once a minute.
type signer struct {
	key      ed25519.PrivateKey
	header   string
	mutex    sync.Mutex
	issuedAt int64
	tokens   map[string]string // by subject
}

func newSigner(text string) (*signer, error) {
	seed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("TOKEN_SIGNING_KEYS: expected 32 bytes as base64url")
	}
	key := ed25519.NewKeyFromSeed(seed)
	x := encode(string(key.Public().(ed25519.PublicKey)))
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	kid := encode(string(thumbprint[:]))[:8]
	header := encode(`{"alg":"EdDSA","kid":"` + kid + `","typ":"tv+jwt"}`)
	return &signer{key: key, header: header}, nil
}

func (s *signer) sign(subject string) string {
	issuedAt := time.Now().Unix() / 60 * 60
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if issuedAt != s.issuedAt {
		s.issuedAt, s.tokens = issuedAt, map[string]string{}
	}
	token, known := s.tokens[subject]
	if !known {
		claims := fmt.Sprintf(`{"iat":%d,"exp":%d,"sub":"%s"}`, issuedAt, issuedAt+900, subject)
		input := s.header + "." + encode(claims)
		token = input + "." + encode(string(ed25519.Sign(s.key, []byte(input))))
		s.tokens[subject] = token
	}
	return token
}

func encode(text string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}
