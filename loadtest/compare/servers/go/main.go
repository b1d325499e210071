// Answers /api/trending from the database at every request.
package main

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

var windows = strings.Split(os.Getenv("WINDOWS"), ",")

type server struct {
	find   *sql.Stmt
	tokens *signer
}

func main() {
	s, err := newServer(os.Getenv("DB_PATH"), os.Getenv("TOKEN_SIGNING_KEYS"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /api/trending", s.trending)
	log.Fatal(http.ListenAndServe(net.JoinHostPort("127.0.0.1", os.Getenv("PORT")), nil))
}

func newServer(path, seed string) (*server, error) {
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro")
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(16) // of 2 by default: the others would be opened again and again
	s := &server{}
	if s.tokens, err = newSigner(seed); err != nil {
		return nil, err
	}
	s.find, err = db.Prepare(os.Getenv("PAGE_SQL"))
	return s, err
}

func (s *server) trending(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	region := strings.ToUpper(cmp.Or(query.Get("region"), "GB"))
	window := cmp.Or(query.Get("window"), "day")
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), "24"))
	if err != nil || limit < 1 || limit > 50 || !slices.Contains(windows, window) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var subject, before, after string
	err = s.find.QueryRow(region, window, limit).Scan(&subject, &before, &after)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		w.WriteHeader(http.StatusBadRequest)
	case err != nil:
		log.Print(err)
		w.WriteHeader(http.StatusInternalServerError)
	default:
		body := before + s.tokens.sign(subject) + after
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write([]byte(body))
	}
}

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
