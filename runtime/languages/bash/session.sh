# Keeps the shell of a session: runs code in the state that earlier code left, and reports how each run ended.
# In: NUL-terminated strings: the number of the run, its code, the number of variables of this run only, NAME=value... Out: as executor.sh;
# before the message the bytes of the value file, as a frame of bytes with the part 0. A run acts on this shell itself when it sets
# variables, sources files, changes the folder or exits.
#
# The script of this shell is a pipe, whose first line sources this file; each run writes the next line. Neither a loop nor a function
# surrounds the code: its `break` would end the loop, and its `declare` would be local to the function.
#
# The code may have any options, traps, functions and readonly names. Names of this file begin with __skillcell and are global, builtins are
# called with `builtin`, and options and traps of the code are off while lines of this file run. The descriptors from 200 on belong to this
# file; commands of the code do not inherit them.
__skillcell_most=$1
__skillcell_value=$SKILLCELL_VALUE
__skillcell_code=0
__skillcell_options=
__skillcell_stopped=
__skillcell_traps=()
__skillcell_restore=
__skillcell_lent=()
__skillcell_kept=()
# A terminal signal ends the running command of a run and skips the rest of the run, also in functions: each next command returns instead.
# Under `set -e` that return would end the shell.
__skillcell_stop='{ __skillcell_stopped=${__skillcell_stopped:-$-}; builtin set +e -T; builtin trap "return 130" DEBUG; } >/dev/null 2>&1'
# Short, because bash reads traps byte by byte.
__skillcell_interrupt='eval "$__skillcell_stop"; return 130 2>/dev/null'
__skillcell_last='{ __skillcell_leave; } 2>/dev/null'
__skillcell_usual="trap -- '$__skillcell_last' EXIT
trap -- '$__skillcell_interrupt' SIGINT
"

__skillcell_frame() {
  builtin printf -v __skillcell_head '\\%03o' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16)) "$1"
  # Without a child process, which would take most of the time of a short run.
  builtin printf "$__skillcell_head" >&201
  if (($1 == 1)); then builtin printf '\000\000\000\000' >&201; fi
  builtin printf '%s' "$3" >&201
}

__skillcell_say() { __skillcell_frame 0 ${#1} "$1"; }

__skillcell_report() {
  __skillcell_text='' __skillcell_field=''
  if [[ -f $__skillcell_value && ! -L $__skillcell_value ]]; then
    builtin read -r -N $((__skillcell_most + 1)) __skillcell_text <"$__skillcell_value"
    # Counts bytes: under a locale of the code, which may be readonly, bash counts characters.
    builtin printf -v __skillcell_head '%s%n' "$__skillcell_text" __skillcell_bytes
    if ((__skillcell_bytes > __skillcell_most)); then
      __skillcell_field=",\"valueBytes\":$(builtin command -p stat -c %s -- "$__skillcell_value")"
    elif ((__skillcell_bytes > 0)); then
      __skillcell_frame 1 $((__skillcell_bytes + 4)) "$__skillcell_text"
      __skillcell_field=',"asValue":true'
    fi
  fi
  __skillcell_say "{\"type\":\"cell\",\"run\":${__skillcell_request[0]},\"code\":$__skillcell_code$__skillcell_field$1}"
}

# Code that ends the shell is reported as well.
__skillcell_leave() {
  __skillcell_code=$?
  builtin set +aeuvxET
  builtin trap '' INT
  builtin enable printf read
  __skillcell_report ',"leaving":true'
}

# Restores the exit status of the code.
__skillcell_again() { builtin return "$__skillcell_code"; }

__skillcell_told() {
  builtin printf 'builtin eval "$__skillcell_step"\n' >&202
  if [[ $__skillcell_options == *a* ]]; then builtin export -n __skillcell_code __skillcell_options; fi
  if [[ -z $__skillcell_stopped ]]; then
    __skillcell_restore=${__skillcell_traps[2]-}
    __skillcell_field=${__skillcell_options//[!xET]/}
    if [[ -n $__skillcell_field ]]; then __skillcell_restore+="builtin set -$__skillcell_field"; fi
  fi
  __skillcell_stopped=
  __skillcell_report ''
}

# Sets the variables of one run, and saves their previous state as commands; empty for variables that did not exist.
__skillcell_lend() {
  builtin mapfile -d '' -t -n "${__skillcell_request[2]}" -u 200 __skillcell_lent
  for __skillcell_field in "${__skillcell_lent[@]}"; do
    __skillcell_kept+=("$(builtin declare -p "${__skillcell_field%%=*}" 2>/dev/null)")
    builtin export "$__skillcell_field"
  done
}

__skillcell_take_back() {
  for __skillcell_field in "${!__skillcell_lent[@]}"; do
    builtin unset -v "${__skillcell_lent[__skillcell_field]%%=*}"
    __skillcell_text=${__skillcell_kept[__skillcell_field]}
    if [[ -n $__skillcell_text ]]; then builtin eval "builtin declare -g ${__skillcell_text#declare }"; fi
  done
  __skillcell_lent=() __skillcell_kept=()
}

__skillcell_next() {
  builtin mapfile -d '' -t -n 3 -u 200 __skillcell_request
  if ((${#__skillcell_request[@]} < 3)); then
    # The session is over: no run is left to report, and `exit` runs the code's own EXIT trap.
    __skillcell_leave() { :; }
    builtin exit 0
  fi
  if [[ -e $__skillcell_value || -L $__skillcell_value ]]; then builtin command -p rm -rf -- "$__skillcell_value"; fi
  if [[ ${__skillcell_traps[0]-} != *"$__skillcell_last' EXIT"* ]]; then
    # The code's own EXIT trap runs before the trap of this file.
    __skillcell_field=${__skillcell_traps[0]-}
    __skillcell_field=${__skillcell_field#trap -- }
    builtin eval "__skillcell_field=${__skillcell_field% EXIT*}"
    builtin trap -- "${__skillcell_field:+$__skillcell_field$'\n'}$__skillcell_last" EXIT
  fi
  if ((__skillcell_request[2] > 0)); then __skillcell_lend; fi
  __skillcell_text=${__skillcell_request[1]}
  if [[ -n $__skillcell_restore ]]; then
    # Part of the code, so that traps and traces do not report the line that sources it; on its first line, so that line numbers stay.
    __skillcell_text='{ builtin eval "$__skillcell_restore"; __skillcell_again && :; } >/dev/null 2>&1; '$__skillcell_text
  fi
  __skillcell_field=${__skillcell_options//[!aeuv]/}
  if [[ -n ${__skillcell_traps[1]-} ]]; then builtin eval "${__skillcell_traps[1]}"; else builtin trap "$__skillcell_interrupt" INT; fi
  if [[ -n $__skillcell_field ]]; then builtin set "-$__skillcell_field"; fi
}

# One run as one command, which bash reads completely before it executes any of it. The right side of `||` sees the old status and is not
# subject to `set -e`. An interrupt that arrives after the code's end is too late and would cut the report short: its traps are undone
# before a function of this file would return because of it.
builtin read -r -d '' __skillcell_step <<'END'
{
  __skillcell_next
  if ((__skillcell_code == 0)); then
    . /dev/fd/203 203<<<"$__skillcell_text"
  else
    __skillcell_again || . /dev/fd/203 203<<<"$__skillcell_text"
  fi
  {
    __skillcell_code=$? __skillcell_options=${__skillcell_stopped:-$-}
    builtin set +aeuvxET
    builtin enable declare enable eval exit export mapfile printf read return set trap unset
    builtin trap -p EXIT INT DEBUG ERR RETURN >&202
    builtin printf '\0' >&202
    builtin mapfile -d '' -t -n 1 -u 202 __skillcell_traps
    if [[ ${__skillcell_traps[0]} != "$__skillcell_usual" ]]; then builtin eval "$__skillcell_unusual"; fi
    builtin trap '' INT
    builtin trap - DEBUG
    builtin set +T
    if ((${#__skillcell_lent[@]} > 0)); then __skillcell_take_back; fi
    __skillcell_told
  } >/dev/null 2>&1
}
END
# Traps of the code: each set is read by itself, and output of a DEBUG trap must not get into the pipe.
builtin read -r -d '' __skillcell_unusual <<'END'
builtin trap -p EXIT >&202
builtin printf '\0' >&202
builtin trap -p INT >&202
builtin printf '\0' >&202
builtin trap -p DEBUG ERR RETURN >&202
builtin printf '\0' >&202
builtin mapfile -d '' -t -n 3 -u 202 __skillcell_traps
builtin trap - DEBUG ERR RETURN
END

# Makes a descriptor close-on-exec. bash has no command for that, but sets the flag on descriptors that it saves for a while, and copies the
# flag with the descriptor.
__skillcell_hide() {
  for ((__skillcell_field = 10; __skillcell_field < 200; __skillcell_field++)); do
    if [[ /dev/fd/$__skillcell_field -ef /dev/fd/$1 ]]; then
      builtin eval "exec $1>&$__skillcell_field"
      return
    fi
  done
}
exec 200<&3 201>&4 3<&202
{ __skillcell_hide 202; } 3<&-
exec 3<&200
{ __skillcell_hide 200; } 3<&-
{ __skillcell_hide 201; } 4>&-
exec 3<&- 4>&-

# Like the name of a script. Its folder is the folder that the code starts in.
BASH_ARGV0=bash
builtin trap '' INT
builtin printf 'builtin eval "$__skillcell_step"\n' >&202
__skillcell_say '{"type":"waiting"}'
