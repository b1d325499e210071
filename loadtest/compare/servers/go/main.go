// Answers /api/trending from the database at every request.
package main

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
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

type page struct {
	Region              string       `json:"region"`
	Window              string       `json:"window"`
	Category            *string      `json:"category"`
	Generation          int64        `json:"generation"`
	GeneratedAt         string       `json:"generated_at"`
	PreviousGeneratedAt *string      `json:"previous_generated_at"`
	NewestObservedAt    *string      `json:"newest_observed_at"`
	ChannelLimit        channelLimit `json:"channel_limit"`
	ScoreUnit           string       `json:"score_unit"`
	Count               int          `json:"count"`
	Total               int          `json:"total"`
	Token               string       `json:"token"`
	Items               []item       `json:"items"`
	Next                *string      `json:"next"`
}

type channelLimit struct {
	Videos      int `json:"videos"`
	WithinRanks int `json:"within_ranks"`
}

type item struct {
	ID          string    `json:"id"`
	Rank        int       `json:"rank"`
	Previous    *int      `json:"previous_rank"`
	Title       string    `json:"title"`
	Channel     string    `json:"channel"`
	Category    *string   `json:"category"`
	PublishedAt *string   `json:"published_at"`
	Score       float64   `json:"score"`
	Expected    *float64  `json:"expected_views"`
	Velocity    velocity  `json:"velocity"`
	Thumbs      [2]string `json:"thumbs"`
	URL         *string   `json:"url"`
}

type velocity struct {
	ViewsPerHour         float64  `json:"views_per_hour"`
	PreviousViewsPerHour *float64 `json:"previous_views_per_hour"`
	Views                int64    `json:"views"`
}

type server struct {
	latest, length, top *sql.Stmt
	tokens              *signer
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
	for statement, text := range map[**sql.Stmt]string{
		&s.latest: `SELECT id, published_at, previous_at, newest_observed_at, max_per_channel, max_per_channel_ranks,
				CASE WHEN ifnull(look_weight, 0) = 0 THEN 'views' WHEN look_weight < 1 THEN 'mixed' ELSE 'clicks' END
			FROM regions JOIN generations LEFT JOIN generation_regions ON region = code AND generation = id
			WHERE code = ? ORDER BY id DESC LIMIT 1`,
		&s.length: `SELECT ifnull(max(rank), 0) FROM trending
			WHERE generation = ? AND region = ? AND window = ? AND category = ''`,
		&s.top: `SELECT video_id, rank, title, channel, videos.category, videos.published_at, score,
				views_per_hour, previous_views_per_hour, views, thumb_base, url, previous_rank,
				expected_views
			FROM trending JOIN videos ON videos.id = video_id
			WHERE generation = ? AND region = ? AND window = ? AND trending.category = ''
			ORDER BY rank LIMIT ?`,
	} {
		if *statement, err = db.Prepare(text); err != nil {
			return nil, err
		}
	}
	return s, nil
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
	found, err := s.find(region, window, limit)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		w.WriteHeader(http.StatusBadRequest)
	case err != nil:
		log.Print(err)
		w.WriteHeader(http.StatusInternalServerError)
	default:
		write(w, found)
	}
}

func write(w http.ResponseWriter, found *page) {
	body, err := json.Marshal(found)
	if err != nil {
		log.Print(err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func (s *server) find(region, window string, limit int) (*page, error) {
	p := &page{Region: region, Window: window, Items: make([]item, 0, limit)}
	var published int64
	var previous, observed *int64
	err := s.latest.QueryRow(region).Scan(
		&p.Generation, &published, &previous, &observed, &p.ChannelLimit.Videos, &p.ChannelLimit.WithinRanks,
		&p.ScoreUnit)
	if err != nil {
		return nil, err
	}
	p.GeneratedAt, p.NewestObservedAt = format(published), formatOptional(observed)
	p.PreviousGeneratedAt = formatOptional(previous)
	if err := s.length.QueryRow(p.Generation, region, window).Scan(&p.Total); err != nil {
		return nil, err
	}
	if err := s.findItems(p, limit); err != nil {
		return nil, err
	}
	p.Count = len(p.Items)
	p.Token = s.tokens.sign(fmt.Sprintf("%s/%s//%d/0+%d", region, window, p.Generation, p.Count))
	if p.Count < p.Total {
		next := nextPage(p, limit)
		p.Next = &next
	}
	return p, nil
}

func (s *server) findItems(p *page, limit int) error {
	rows, err := s.top.Query(p.Generation, p.Region, p.Window, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var i item
		var published *int64
		var thumbs string
		err := rows.Scan(&i.ID, &i.Rank, &i.Title, &i.Channel, &i.Category, &published, &i.Score,
			&i.Velocity.ViewsPerHour, &i.Velocity.PreviousViewsPerHour, &i.Velocity.Views, &thumbs, &i.URL,
			&i.Previous, &i.Expected)
		if err != nil {
			return err
		}
		i.PublishedAt = formatOptional(published)
		i.Score = round(i.Score)
		if expected := i.Expected; expected != nil {
			*expected = round(*expected)
		}
		i.Velocity.ViewsPerHour = round(i.Velocity.ViewsPerHour)
		if before := i.Velocity.PreviousViewsPerHour; before != nil {
			*before = round(*before)
		}
		i.Thumbs = [2]string{thumbs + "/hq.webp", thumbs + "/sd.webp"}
		p.Items = append(p.Items, i)
	}
	return rows.Err()
}

func nextPage(p *page, limit int) string {
	next := "/api/trending?region=" + p.Region
	if p.Window != "day" {
		next += "&window=" + p.Window
	}
	if limit != 24 {
		next += "&limit=" + strconv.Itoa(limit)
	}
	return fmt.Sprintf("%s&cursor=%d-%d", next, p.Generation, p.Count)
}

func format(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

func formatOptional(seconds *int64) *string {
	if seconds == nil {
		return nil
	}
	text := format(*seconds)
	return &text
}

func round(value float64) float64 {
	return math.Round(value*10) / 10
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
