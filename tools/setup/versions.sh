# The versions that bin/setup requires and installs. Only these are elsewhere: Bun's (package.json,
# "packageManager"), the hashes of npm packages (npm-hashes.txt) and the Python packages
# (pyproject.toml, locked in requirements.txt).
# shellcheck shell=bash disable=SC2034  # read by the scripts that source this file

BUN_VERSION=$(sed -n 's/.*"packageManager": *"bun@\([^"+]*\).*/\1/p' "$ROOT/package.json")

NODE_MINIMUM=22.18.0 # wrangler needs it; to fetch it, the npm of Node 20 will do (package.json, "engines")
NODE_VERSION=22.23.3
NPM_VERSION=10.9.9

CHROMIUM_VERSION=153.0.0 # of the package @sparticuz/chromium, which carries a build of Chromium 153

# Debian's archive keeps only the newest build of a suite, so only a suite can be
# pinned here; .tools/php/PACKAGES lists what was installed.
DEBIAN_SUITE=trixie
PHP_MINIMUM=8.4.0
SQLITE_MINIMUM=3.46 # that PHP is linked with; writer/src/main.php says why
PHP_PACKAGES='php8.4-cli php8.4-curl php8.4-intl php8.4-mbstring php8.4-sqlite3 php8.4-xml'
# The writer's libraries, and Composer for its autoloader.
PHP_LIBRARIES='php-symfony-console php-symfony-http-client php-psr-log php-psr-clock composer'
PHPUNIT_MINIMUM=11.5.0
# What a PHP must have to be used: the writer's extensions, its libraries' (intl), then PHPUnit's.
PHP_EXTENSIONS='curl mbstring intl pcntl posix sodium sqlite3 zlib ctype dom tokenizer xml xmlwriter'

PYTHON_MINIMUM=3.11 # locust needs it
