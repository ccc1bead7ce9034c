import { parseBlocks } from './markdown.ts';

export type QuickAction = { command: string; argument: string };

/** Takes the quick actions out of a note. What GitLab would not run stays in the body. */
export function extractQuickActions(text: string): { body: string; actions: QuickAction[] } {
  const lines = text.replaceAll('\r', '').split(/(?<=\n)/);
  const actions: QuickAction[] = [];
  for (const block of parseBlocks(lines.map((line) => line.replace(/\n$/, '')))) {
    if (block.kind !== 'paragraph') continue;
    const end = lines[block.end] === '\n' ? block.end + 1 : block.end;
    const kept = lines.slice(block.start, end).join('').replace(COMMAND, keepOrTake(actions));
    lines.fill('', block.start, end);
    lines[block.start] = kept;
  }
  return { body: lines.join('').trimEnd(), actions };
}

const NAMES = [
  'add_child|add_contacts|add_email|approve|assign|assign_reviewer|award|blocked_by|blocks|cancel_auto_merge',
  'checkin_reminder|child_of|clear_health_status|clear_milestone|clear_weight|clone|close|confidential',
  'convert_to_ticket|copy_metadata|create_merge_request|done|draft|due|duplicate|epic|estimate|estimate_time',
  'health_status|iteration|label|labels|link|lock|merge|milestone|move|open|page|promote|promote_to|publish',
  'react|ready|reassign|reassign_reviewer|rebase|relabel|relate|remove_child|remove_due_date|remove_email',
  'remove_epic|remove_estimate|remove_iteration|remove_label|remove_milestone|remove_parent|remove_time_spent',
  'remove_zoom|reopen|request_changes|request_review|reviewer|run_pipeline|set_parent|ship|spend|spend_time',
  'spent|submit_review|subscribe|tag|target_branch|timeline|title|todo|type|unapprove|unassign|remove_reviewer',
  'unassign_reviewer|unlabel|unlink|unlock|unsubscribe|weight|wip|zoom',
].join('|');

// Inline code and lone tags first, because a command within them is no command. `^` and `$` would also see
// the line breaks that only JavaScript knows, hence the look-arounds.
const COMMAND = new RegExp(
  [
    '`[\\s\\S]+?`',
    '(?<![^\\n])<[^>]+?>\\n[\\s\\S]+?\\n</[^>]+?>(?![^\\n])',
    `(?<![^\\n])/(?<command>${NAMES})(?: (?<argument>[^\\n]*))?(?:\\s*\\n|(?![^\\n]))`,
  ].join('|'),
  'gi',
);

function keepOrTake(actions: QuickAction[]): (match: string, ...rest: unknown[]) => string {
  return (match, ...rest) => {
    const groups = rest.at(-1) as { command?: string; argument?: string };
    if (groups.command === undefined) return match;
    actions.push({ command: groups.command.toLowerCase(), argument: groups.argument?.trim() ?? '' });
    return '';
  };
}
