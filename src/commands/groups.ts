/** How help groups the commands, in order. A test sees to it that every command has a place. */
export const commandGroups: Readonly<Record<string, readonly string[]>> = {
  "Set up": ["login", "logout", "whoami", "doctor", "profiles", "completion"],
  "Keep the mirror": ["sync", "verify", "status", "download", "cron"],
  "Use the data": ["report", "export", "query", "tables", "changes"],
  "Without a key": ["demo", "sandbox"],
};

/** The heading under which help lists a command. */
export function groupOf(command: string): string {
  const group = Object.entries(commandGroups).find(([, names]) => names.includes(command));
  return `${group?.[0] ?? "Commands"}:`;
}

/** The commands in the order of their groups, and within a group in the group's order. */
export function inHelpOrder<Named extends { name: string }>(commands: readonly Named[]): Named[] {
  const order = Object.values(commandGroups).flat();
  const place = ({ name }: Named) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...commands].sort((a, b) => place(a) - place(b));
}
