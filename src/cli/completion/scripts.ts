/**
 * The scripts that shells load. Each passes the words typed so far to `caretaker completion`, so that it never
 * has to be updated, and offers files where there are no candidates.
 *
 * A candidate that ends with `=`, `:` or `,` is followed by more, so no space is added after it.
 */
export const scripts = {
  // bash ends words at = and : as well. So the line is split here, and what bash considers as typed is removed
  // from the candidates.
  bash: `_caretaker() {
  local line="\${COMP_LINE:0:COMP_POINT}" current="\${COMP_WORDS[COMP_CWORD]}" typed
  local -a words
  read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  typed="\${words[\${#words[@]}-1]}"
  [[ "$current" == [=:] ]] && current=""
  local IFS=$'\\n'
  COMPREPLY=($(caretaker completion bash -- "\${words[@]:1}" 2>/dev/null))
  COMPREPLY=("\${COMPREPLY[@]#"\${typed%"$current"}"}")
  [[ "\${COMPREPLY[0]}" == *[=:,] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _caretaker caretaker`,
  zsh: `#compdef caretaker
_caretaker() {
  local -a found more
  found=("\${(@f)$(caretaker completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  more=("\${(@M)found:#*[=:,]}")
  found=("\${(@)found:#*[=:,]}")
  if [[ -z "$found$more" ]]; then _files; return; fi
  [[ -n "$more" ]] && compadd -S '' -a more
  [[ -n "$found" ]] && compadd -a found
  return 0
}
compdef _caretaker caretaker`,
  fish: `function __caretaker_complete
  set -l typed (commandline -ct)
  set -l found (caretaker completion fish -- (commandline -opc)[2..] "$typed" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$typed"
  end
end
complete -c caretaker -f -a '(__caretaker_complete)'`,
} as const;

export type Shell = keyof typeof scripts;
