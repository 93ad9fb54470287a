# Keeps the shell of a session: runs code with what earlier code has set, and says of each run how it ended.
# In: NUL-terminated strings: the number of the run, its code, how many variables it alone has, NAME=value... Out: as executor.sh, and ahead of it the bytes of the value file, as a
# frame of bytes with the part 0. What a run sets, sources, changes the folder to or exits from is the shell's own.
#
# The script of this shell is a pipe, whose first line sources this file; each run writes the line that comes next. Neither a loop nor a
# function is around the code: a `break` of its own would end the one, and its `declare` would be local to the other.
#
# The code may have any options, traps, functions and readonly names. Names of ours begin with __skillcell and are global, builtins are
# called as such, and options and traps of the code are off while lines of ours run. The descriptors from 200 on are ours; commands of the
# code do not get them.
__skillcell_most=$1
__skillcell_value=$SKILLCELL_VALUE
__skillcell_code=0
__skillcell_options=
__skillcell_stopped=
__skillcell_traps=()
__skillcell_restore=
__skillcell_lent=()
__skillcell_kept=()
# What a signal of the terminal does to a run: its command ends, and the rest of it is left out, in functions as well: each command that
# would come next returns instead. Under `set -e` that would end the shell.
__skillcell_stop='{ __skillcell_stopped=${__skillcell_stopped:-$-}; builtin set +e -T; builtin trap "return 130" DEBUG; } >/dev/null 2>&1'
# Short, for traps are read byte by byte.
__skillcell_interrupt='eval "$__skillcell_stop"; return 130 2>/dev/null'
__skillcell_last='{ __skillcell_leave; } 2>/dev/null'
__skillcell_usual="trap -- '$__skillcell_last' EXIT
trap -- '$__skillcell_interrupt' SIGINT
"

__skillcell_frame() {
  builtin printf -v __skillcell_head '\\%03o' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16)) "$1"
  # Without a process of its own: most of the time of a short run would be that.
  builtin printf "$__skillcell_head" >&201
  if (($1 == 1)); then builtin printf '\000\000\000\000' >&201; fi
  builtin printf '%s' "$3" >&201
}

__skillcell_say() { __skillcell_frame 0 ${#1} "$1"; }

__skillcell_report() {
  __skillcell_text='' __skillcell_field=''
  if [[ -f $__skillcell_value && ! -L $__skillcell_value ]]; then
    builtin read -r -N $((__skillcell_most + 1)) __skillcell_text <"$__skillcell_value"
    # Its bytes: a locale of the code, which may be readonly, has characters.
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

# Code that ends the shell is told of as well.
__skillcell_leave() {
  __skillcell_code=$?
  builtin set +aeuvxET
  builtin trap '' INT
  builtin enable printf read
  __skillcell_report ',"leaving":true'
}

# The status that the code before has left.
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

# Sets the variables of one run, and keeps how they were: as commands, and for those that were not there nothing.
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
    # The session is over: there is no run to tell of any more, and what the code has the shell do at its end is done.
    __skillcell_leave() { :; }
    builtin exit 0
  fi
  if [[ -e $__skillcell_value || -L $__skillcell_value ]]; then builtin command -p rm -rf -- "$__skillcell_value"; fi
  if [[ ${__skillcell_traps[0]-} != *"$__skillcell_last' EXIT"* ]]; then
    # What the code has the shell do at its end comes ahead of our own.
    __skillcell_field=${__skillcell_traps[0]-}
    __skillcell_field=${__skillcell_field#trap -- }
    builtin eval "__skillcell_field=${__skillcell_field% EXIT*}"
    builtin trap -- "${__skillcell_field:+$__skillcell_field$'\n'}$__skillcell_last" EXIT
  fi
  if ((__skillcell_request[2] > 0)); then __skillcell_lend; fi
  __skillcell_text=${__skillcell_request[1]}
  if [[ -n $__skillcell_restore ]]; then
    # Within the code, lest traps and traces tell of the line that sources it; on its first line, so that the others keep their numbers.
    __skillcell_text='{ builtin eval "$__skillcell_restore"; __skillcell_again && :; } >/dev/null 2>&1; '$__skillcell_text
  fi
  __skillcell_field=${__skillcell_options//[!aeuv]/}
  if [[ -n ${__skillcell_traps[1]-} ]]; then builtin eval "${__skillcell_traps[1]}"; else builtin trap "$__skillcell_interrupt" INT; fi
  if [[ -n $__skillcell_field ]]; then builtin set "-$__skillcell_field"; fi
}

# All that a run does, as one command, which is read before any of it happens. In `||` the status is there for the code, and `set -e` is
# none of its concern. An interrupt that comes when the code is over is too late, and would cut short what is said of the run: what one
# that still came has set is taken back before a function of ours would return for it.
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
# Traps of the code: each set is read by itself, and what one for DEBUG prints is not for the pipe.
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

# Makes a descriptor one that commands do not inherit. bash has no word for that, but does so with what it puts aside for a while, and
# copies it to copies of that.
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

# As a name of a script would be: its folder is the one that the code begins in.
BASH_ARGV0=bash
builtin trap '' INT
builtin printf 'builtin eval "$__skillcell_step"\n' >&202
__skillcell_say '{"type":"waiting"}'
