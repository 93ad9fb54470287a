# Waits for one run, then runs the user's script in its own bash with exactly the given environment.
# In: NUL-terminated strings: number of variables, NAME=value..., number of arguments, arguments..., path of the script, its working folder,
# number of words, the words of its interpreter (none, or sh or bash with options).
# Or `session`, then number of variables, NAME=value..., the working folder, the value file, the most bytes of a value: see session.sh.
# Out: one message, a 4-byte little-endian length and JSON.
say() {
  local text=$1 length=${#1}
  printf "\\$(printf '%03o' $((length & 255)))\\$(printf '%03o' $((length >> 8)))\\000\\000%s" "$text" >&4
}
take() { IFS= read -r -d '' "$1" <&3; }

say '{"type":"waiting"}'
take count || exit 0
if [[ $count == session ]]; then
  take count
  variables=()
  for ((i = 0; i < count; i++)); do take item && variables+=("$item"); done
  take folder
  take value
  take most
  here=${0%/*}
  cd -- "$folder" || exit
  # The session's shell reads its script from a pipe that holds the first line: see session.sh.
  exec 202<> <(:)
  printf '. %q %q\n' "$here/session.sh" "$most" >&202
  # A process started in the background ignores SIGINT, which interrupts a run; the option restores the default action.
  exec env -i --default-signal=INT "${variables[@]}" SKILLCELL_VALUE="$value" /bin/bash --noprofile --norc /dev/fd/202
fi
variables=()
for ((i = 0; i < count; i++)); do take item && variables+=("$item"); done
take count
arguments=()
for ((i = 0; i < count; i++)); do take item && arguments+=("$item"); done
take script
take folder
take count
words=()
for ((i = 0; i < count; i++)); do take item && words+=("$item"); done
case ${words[0]-} in
  sh) interpreter=(/bin/sh "${words[@]:1}") ;;
  *) interpreter=(/bin/bash "${words[@]:1}") ;;
esac

cd -- "$folder" || exit
# The interpreter replaces this shell, so the kernel reports the end of the interpreter itself.
exec env -i "${variables[@]}" "${interpreter[@]}" "$script" "${arguments[@]}" 3<&- 4>&-
