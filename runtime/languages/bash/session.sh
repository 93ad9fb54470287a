# Keeps the shell of a session: runs code with what earlier code has set, and says of each run how it ended.
# In: NUL-terminated strings: the number of the run, its code. Out: as executor.sh, and ahead of it the bytes of the value file, as a
# frame of bytes with the part 0. What a run sets, sources, changes the folder to or exits from is the shell's own.
# Names of ours begin with __skillcell.
__skillcell_frame() {
  local LC_ALL=C kind=$1 text=$2 head
  local length=$((${#text} + kind * 4))
  printf -v head '\\%03o' $((length & 255)) $((length >> 8 & 255)) $((length >> 16)) "$kind"
  # Without a process of its own: most of the time of a short run would be that.
  printf "$head" >&4
  if ((kind == 1)); then printf '\000\000\000\000' >&4; fi
  printf '%s' "$text" >&4
}
__skillcell_report() {
  local LC_ALL=C code=$1 text='' value=''
  if [[ -f $SKILLCELL_VALUE && ! -L $SKILLCELL_VALUE ]]; then
    IFS= read -r -N $((__skillcell_value_bytes + 1)) text <"$SKILLCELL_VALUE"
    if ((${#text} > __skillcell_value_bytes)); then
      value=",\"valueBytes\":$(stat -c %s -- "$SKILLCELL_VALUE")"
    elif [[ -n $text ]]; then
      __skillcell_frame 1 "$text"
      value=',"asValue":true'
    fi
  fi
  __skillcell_frame 0 "{\"type\":\"cell\",\"run\":$__skillcell_run,\"code\":$code$value$2}"
}

__skillcell_value_bytes=$1
shift
# What a signal of the terminal does to a run: its command ends, and the rest of it is left out.
trap 'return 130 2>/dev/null || :' INT
__skillcell_frame 0 '{"type":"waiting"}'
while IFS= read -r -d '' __skillcell_run <&3 && IFS= read -r -d '' __skillcell_code <&3; do
  if [[ -e $SKILLCELL_VALUE || -L $SKILLCELL_VALUE ]]; then rm -rf -- "$SKILLCELL_VALUE"; fi
  # Code that ends the shell is told of as well; a trap of its own takes the place of this one.
  trap '__skillcell_report $? ",\"leaving\":true"' EXIT
  . /dev/fd/5 5<<<"$__skillcell_code" 3<&-
  __skillcell_report $?
done
trap - EXIT
exit 0
