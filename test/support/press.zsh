# zsh -f press.zsh SCRIPT LINE...: types each line into an interactive zsh that has loaded the script, and presses Tab.
# Prints for each what was listed, then <the line as it is now> and a NUL.
zmodload zsh/zpty
script=$1
shift
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PROMPT= RPROMPT=; unset zle_bracketed_paste; stty -echo cols 160 rows 200; LISTMAX=1000 KEYTIMEOUT=1"
zpty -w shell "autoload -Uz compinit; compinit -u -D; source ${(q)script}"
zpty -w shell 'show() { zle -I; print -r -- "<$BUFFER>"; BUFFER= }; zle -N show; bindkey "^X" show; print rea"dy"'
zpty -r shell out '*ready*'
for line; do
  zpty -w -n shell "$line"$'\t\x18'
  zpty -r shell out '*<*>*'
  print -rn -- "$out"$'\0'
done
zpty -d shell
