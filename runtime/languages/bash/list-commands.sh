# Prints the version of this bash and the present commands that scripts often use and a minimal Debian may lack.
echo "@ ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"
for name in awk bc bzip2 curl dc file gawk git gzip jq node openssl perl python3 rsync ruby sqlite3 tar unzip wget xmllint xz yq zip zstd; do
  if command -v "$name" >/dev/null; then echo "$name"; fi
done
