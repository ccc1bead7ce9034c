// Small recognisers with names: each knows one kind of line. What a kind is worth stands in weights.ts.
// Every pattern runs in time linear in the line: what can be repeated is bounded, or can not be read in two ways.
import type { Feature } from './weights.ts';

/** `strength` is how much a line of this kind tells about the lines around it. */
export type Recogniser = readonly [name: Feature, strength: number, pattern: RegExp];

/** A line of these speaks of what went wrong. */
const SIGNS: readonly Recogniser[] = [
  // Compilers, linters, type checkers.
  [
    'compiler-error',
    4,
    /[\w)\]"'.-]:\d{1,9}(?::\d{1,9})?:? (?:fatal )?error\b|\(\d{1,9},\d{1,9}\): error\b|^error(?:\[\w+\])?: |^\s*error {1,3}TS\d|: error (?:TS|CS|C|LNK|MSB)\d{1,9}|^\[(?:ERROR|error)\] .{1,300}:\[?\d{1,9}[,:]\d{1,9}\]?|\berror: (?:use of|expected|unknown|undefined|undeclared|no matching|cannot|unused|incompatible|class|package)\b/,
  ],
  [
    'linker-error',
    4,
    /undefined reference to|ld returned \d|cannot find -l|Undefined symbols for|duplicate symbol|unresolved external/,
  ],
  [
    'location',
    1,
    /^\s{0,8}(?:--> |at |in )?[\w@./\\+-]{2,200}\.[A-Za-z]{1,6}:\d{1,9}(?::\d{1,9})?(?:[:\s]|$)|^\s+File "[^"]{1,300}", line \d{1,9}|^\S{1,200}\.\w{1,5}\(\d{1,9}(?:,\d{1,9})?\):|^\s+--> \S{1,200}:\d{1,9}|^In \S{1,200} line \d{1,9}:$|^FILE: \S|^\s*\(?\S{1,200}\.\w{1,6}:\d{1,9}(?::\d{1,9})?\)?$/,
  ],
  [
    'lint-error',
    3,
    /^\s+\d{1,9}:\d{1,9}\s+error\s|^\S{1,200}:\d{1,9}:\d{1,9}: [A-Z]{1,3}\d{2,4}\b|^\s*\d{1,9}:\d{1,9}\s+✖|: [CEFW]\d{4}: |^\s*\d{1,6} \| ERROR \||: line \d{1,9}, col \d{1,9}, |^\s*SC\d{4} \(error\)|\bSC\d{4} \(error\)/,
  ],
  ['severe-offence', 3.5, /:\d{1,9}: (?:\[?[EF]\]?|error|fatal): |^[EF]: ?\d{1,9},\d{1,9}: /],
  ['caret', 1, /^[\s|>0-9]{0,16}(?:\^+~*|~+\^?|\^-+)\s*(?:$|[a-z])|^\s{1,12}\|\s{0,200}[\^~-]{1,}/],
  ['source-quote', 0.5, /^\s{0,6}>?\s{0,4}\d{1,5} ?[|│] /],
  // Tests.
  [
    'test-failed',
    4,
    /^\s*-{3} FAIL:|^\s{0,6}FAIL[: \t]|^\s{0,8}(?:✕|✖|✗|×|❌|✘)\s|^not ok \d{1,9}|\bFAILED\b(?! \(0)|<<< (?:FAILURE|ERROR)!|^\s{0,6}● .{1,200}(?:›|$)|\(FAILED - \d{1,9}\)|\.{3} ?(?:FAILED|FAIL|ERROR)\b|^\[ {1,4}FAILED {1,4}\]|^\s{0,4}Failed .{1,200} \[\d{1,9} ?m?s\]|\*{3} FAILED \*{3}|^- .{1,160} \*{3} FAILED|\*{3}(?:Failed|Exception|Timeout|Not Run)|^\s*\[FAIL\]|\[FAIL\]\s*$|^%{3} .{1,120}FAILED|^\s{0,6}(?:Failure|FAILED|ERROR) (?:→|->) |^(?:──|--) \d{1,9}\. (?:Failure|Error)|^#\s{1,6}Failed test|^\* checking .{1,120} ERROR|^\s{0,4}❯ .{1,200}\d{1,9} failed/,
  ],
  ['numbered-failure', 2, /^\s{0,4}\d{1,3}\) \S/],
  [
    'failure-heading',
    3,
    /^\s*(?:=+ )?(?:Failures?|Errors?|FAILURES|ERRORS|Failed tests?|Failed Tests?|Tests in error|Failed examples|There (?:was|were) \d{1,9} (?:failure|error)s?|Failing tests|Failed assumption|failures)(?: =+|:| \d{1,9})?\s*:?\s*$|^=+ (?:FAILURES|ERRORS|short test summary info) =+$|^_{4,} .{1,200} _{4,}$|^-{2,} (?:Failed|FAILED|stdout|stderr) .{0,100}/,
  ],
  [
    'assertion',
    3,
    /\bassert(?:ion|ionerror)?\b.{0,80}(?:fail|error|:)|AssertionError|ComparisonFailure|\bExpect(?:ed|ation)\b|\bexpected\b.{1,300}(?:but|got|to|actual|found|received)|^\s*(?:Expected|Received|Actual|expected|actual|got|want|left|right|Difference)\b.{0,20}:|^E {3,}|\bassertion failed\b|\bto (?:equal|be|match|have|include|deep equal)\b|^#\s+(?:got|expected|at)\b|^\s*(?:Expression|Evaluated|Assertion with|Diff|code|assert):? |Failed asserting|^\s*[Ee]xpected?[: ].{0,200}$|doesn't match|does not equal|did not match/,
  ],
  [
    'failure-error',
    4,
    /Failure\/Error:|^\s*(?:Failure|Error):$|^\s{0,6}(?:Failure|Error) in\b|^(?:FAIL|ERROR): \S|^(?:FAIL|ERROR) in \(|^\s*Error During Test|^Test Failed at|^Error: Test failures/,
  ],
  // Exceptions and crashes.
  [
    'exception',
    3.5,
    /^\s*(?:[\w$]{1,60}[.:]{1,2}){0,12}[\w$]{0,60}(?:Exception|Error|Failure|Interrupt|Exit)(?:: |:$|$| \[)|^Traceback \(most recent|^(?:Caused by|Suppressed): |\bpanic: |panicked at|^(?:Uncaught|Unhandled|uncaught)\b|[Uu]nhandled (?:promise )?rejection|^\s*raise \w|^throw \w|^\s*throw new|Exception in thread|terminate called|^goroutine \d{1,9} \[/,
  ],
  [
    'frame',
    1,
    /^\s+at [\w$.<>/@[ -]{1,200}\(|^\s+at (?:async )?\S{1,300}:\d{1,9}|^\s+from \S{1,300}:\d{1,9}:in|^\s{1,12}# \S{1,300}:\d{1,9}|^\s+[\w/.$-]{1,200}\.go:\d{1,9} \+0x|^\s{0,6}#?\d{1,3}:? +0x[0-9a-f]+|^\s+\.{3} \d{1,9} (?:more|common)|^\s+\d{1,9}: \S{1,200}::|^\s+(?:\S{1,200}\/)?[\w.-]{1,80}\.(?:js|ts|py|rb|php|ex|exs):\d{1,9}|^#\d{1,9} \S/,
  ],
  [
    'crash',
    3.5,
    /Segmentation fault|core dumped|SIG(?:SEGV|ABRT|KILL|BUS|ILL|TERM)\b|signal(?::)? (?:6|9|11|15)\b|[Aa]borted\b|AddressSanitizer|stack smashing|double free|Bus error|Illegal instruction|runtime error:/,
  ],
  // The machine, the network, the surroundings.
  [
    'resources',
    3.5,
    /[Nn]o space left|[Oo]ut of memory|OutOfMemory|\bOOM|heap (?:out of|space)|Cannot allocate memory|^\s*Killed\b|\bKilled$|memory limit|disk quota|Too many open files|exceeded.{0,40}(?:quota|limit)|(?:quota|limit).{0,40}exceeded/,
  ],
  [
    'network',
    2,
    /[Cc]ould not resolve|Temporary failure in name resolution|Name or service not known|[Cc]onnection (?:refused|reset|timed out|closed)|ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|[Nn]etwork is unreachable|TLS handshake|SSL|certificate|i\/o timeout|no route to host|no such host|50[0234] (?:Bad|Gateway|Service|Internal)|status(?: code)?:? ?5\d\d|returned error: \d{1,9}|toomanyrequests|429 Too Many|(?:HTTP|[Ss]tatus|code|[Ee]rror)\D{0,20}\b429\b|rate limit/,
  ],
  [
    'denied',
    2.5,
    /[Pp]ermission denied|EACCES|EPERM|[Aa]ccess denied|[Uu]nauthorized|[Ff]orbidden|40[13] (?:Unauthorized|Forbidden|Client)|(?:HTTP|[Ss]tatus|code|[Ee]rror|[Rr]esponse)\D{0,20}\b40[13]\b|authentication required|denied:|Authentication failed|not authorized|invalid credentials/,
  ],
  [
    'missing',
    2.5,
    /command not found|[Nn]o such file|not found\b|[Cc]annot find|[Cc]an't find|[Cc]ould not find|[Uu]nable to (?:find|locate|resolve)|Cannot resolve|[Mm]odule not found|No module named|cannot load such file|unresolved import|is not installed|does not exist|doesn't exist|No matching|no matching|Unknown (?:option|command|argument|flag)|unrecognized|is not defined|undeclared|has no (?:member|attribute|field)|[Uu]ndefined (?:variable|method|function|symbol|local)|not exist/,
  ],
  [
    'timeout',
    2.5,
    /[Tt]imed? ?out|TIMEOUT|[Dd]eadline exceeded|No output has been received|took longer than|exceeded .{0,40}time|\bstalled|exceeded the maximum|has been (?:terminated|stopped|cancelled|canceled)|The operation was canceled/,
  ],
  [
    'conflict',
    1.5,
    /ERESOLVE|[Cc]onflict|[Ii]ncompatible|mismatch|MISMATCH|does not (?:match|satisfy|support)|not compatible|out of date|out of sync|not up[ -]to[ -]date|requires .{1,80} but|unsatisfi|peer dep|lockfile|would reformat|version solving|not formatted|code style issues|needs? (?:to be )?(?:re)?format|^Diff in |treated as error|files? would be|is not properly formatted|out-of-date|must be updated|not in sync/,
  ],
  [
    'invalid',
    1.5,
    /\b[Ii]nvalid\b|[Mm]alformed|[Ss]yntax ?[Ee]rror|[Uu]nexpected (?:token|end|character|identifier|EOF|indent)|[Pp]arse error|parsing|not a valid|[Uu]nsupported|[Mm]issing\b|is required|must be\b/,
  ],
  [
    'can-not',
    2,
    /\b[Cc]ould ?n[o']t\b|\b[Cc]annot\b|\b[Cc]an(?:'t| not)\b|\b[Uu]nable to\b|\b[Ff]ailed to\b|[Ff]ailure\b|refusing to|rejected|\bnot allowed\b|aborting|giving up|[Gg]ave up/,
  ],
  // Scanners and policies.
  [
    'finding',
    2.5,
    /\bFOUND$|Infected files: [1-9]|leaks? found: [1-9]|^\s*(?:Finding|RuleID|Secret):|\[Violation\]|^\s*(?:CRITICAL|HIGH)\b|\b(?:CRITICAL|HIGH): [1-9]|Violations: [1-9]|^\s{1,6}Reason: /,
  ],
  // The end of commands.
  [
    'exit-mark',
    1.5,
    /exit(?:ed)? (?:with )?(?:status |code:? |error code )?[1-9]\d{0,2}\b|returned? (?:a )?non-zero|non-zero exit|\bstatus code [1-9]\d{0,2}\b|Error \d{1,9}(?: \(ignored\))?$|(?:exit status|code|returned exit code|errno) [1-9]\d{0,2}\b|ELIFECYCLE|error Command failed|marked build as failure|Job failed/,
  ],
  [
    'build-failed',
    2.5,
    /BUILD FAIL|Build (?:step .{1,100} )?FAILED|[Bb]uild failed|Compilation fail|compilation (?:error|terminated|fail)|could not compile|What went wrong|Execution failed for task|Failed to execute goal|> Task .{1,120} FAILED|make(?:\[\d{1,9}\])?: \*\*\*|ninja: build stopped|FAILED: |FAILURE:|aborting due to|error: failed|ERROR: failed|Job for .{1,80} failed|Command .{1,200} failed|rake aborted|Target .{1,100} failed|ERROR: process/,
  ],
  // Counts at the end of a test run.
  [
    'summary',
    2.5,
    /Tests? run: ?\d{1,9}, .{0,40}(?:Failures?|Errors?): ?[1-9]|Tests:? .{0,60}[1-9]\d{0,9} fail|\b[1-9]\d{0,9} (?:tests? )?(?:failed|failing|failures?|errors?)\b|FAILED \((?:failures|errors)=|\bfail(?:ed|ures?)?"?[:=] ?"?[1-9]|Found [1-9]\d{0,9} error|[1-9]\d{0,9} problems? \(|ERROR SUMMARY: [1-9]|test result: FAILED|Failed: {1,8}[1-9]|DONE \d{1,9} tests, [1-9]|Result: FAIL|^FAILURES!$|FOUND \d{1,9} ERRORS?|Status: \d{1,9} ERROR|The following tests FAILED|Errors while running CTest|Some tests did not pass|\d{1,9} of \d{1,9} .{0,40}(?:failed|not passed)|\b[1-9]\d{0,9} (?:new )?(?:issues?|violations?|offenses?|vulnerabilities) (?:found|detected)|^(?:Failed|Failing) tests:/,
  ],
  // The usual words, wherever they stand.
  [
    'error-label',
    2.5,
    /^\s*(?:\[?(?:ERROR|FATAL|SEVERE|CRITICAL|CRIT|Error|error|fatal|FAILURE|FAIL|E)\]?(?:[:|]| - | \[)|\[(?:ERROR|FATAL|SEVERE|error|fatal)\]|ERR!|npm (?:ERR!|error)|##\[error\]|::error|error\b|✗|✖|Error\b|level=(?:error|fatal)|fatal\b)|"level": ?"(?:error|fatal)"|\b(?:ERROR|FATAL|SEVERE)\b/,
  ],
  [
    'error-word',
    1,
    /\b(?:[Ee]rrors?|ERRORS?|[Ff]ail(?:ed|s|ure|ures|ing)?|FAIL(?:ED|URES?)?|[Ff]atal|[Ee]xceptions?|[Pp]anic|[Ss]everity|[Vv]iolations?|[Vv]ulnerabilit(?:y|ies)|[Bb]roken|[Cc]orrupt(?:ed)?|[Dd]enied|[Dd]isallowed)\b/,
  ],
  ['diff', 0.5, /^\s{0,12}[-+] {0,3}\S|^@@ |^(?:---|\+\+\+) \S|^diff --git/],
];

/** A line of these is harmless, however it sounds. */
const CALMING: readonly Recogniser[] = [
  [
    'none-of-it',
    -4,
    /\b(?:0|no|No|zero) (?:errors?|failures?|failed|failing|problems?|issues?|warnings?|vulnerabilit)|Failures?: ?0, (?:Errors?: ?0)|[Ff]ail(?:ed|ures?)?"?[:=] ?"?0\b|errors?"?[:=] ?"?0\b|errors=0/,
  ],
  [
    'passing',
    -4,
    /^\s{0,12}(?:✓|✔|√|ok\b|PASS\b|passed\b|·)|\.{3} ?(?:ok|OK|passed|PASSED|Passed|SUCCESS)\b|\bPASSED\b|\[ {1,6}(?:OK|PASSED|RUN) {1,6}\]|^\s*-{3} (?:PASS|SKIP):|^=== (?:RUN|PAUSE|CONT)\b|SUCCESS \[|\(\d{1,9} ?ms\)$|^\s*(?:ok|PASS)\s|: OK$|\bPassed\b/,
  ],
  ['warning', -2, /\b(?:WARN(?:ING)?|[Ww]arn(?:ing)?)\b|\bW\/|npm warn|[Dd]eprecat|DEPRECAT/],
  [
    'info',
    -1.5,
    /^\s*\[?(?:INFO|DEBUG|TRACE|NOTICE|info|debug|I|D)\]?[:\]\s]|"level": ?"(?:info|debug)"|level=(?:info|debug)|\b(?:INFO|DEBUG)\b/,
  ],
  [
    'fetching',
    -3,
    /^\s*(?:\[INFO\] )?(?:Download(?:ing|ed)|Fetch(?:ing|ed)|Collecting|Installing|Unpacking|Selecting|Preparing|Setting up|Get:\d|Hit:\d|Ign:\d|Receiving|Resolving|remote:|Using cached|Requirement already|go: (?:downloading|finding|extracting)|Pull(?:ing|ed)|Extracting|Waiting|Verifying|Copying|Progress|Uploading|Compiling|Building \[|Checking|Cloning|added \d|reused \d)|https?:\/\/\S+\s+\d{1,9}(?:\.\d{1,9})? ?[kKMG]?B|\d{1,3}% ?[|[#=>.]|[#=]{10,}/,
  ],
  [
    'mild-offence',
    -3,
    /:\d{1,9}: \[?[CWRIN]\]?: |^\s+\d{1,9}:\d{1,9}\s+(?:warning|warn|info)\s|: (?:warning|note|remark)[: ]/,
  ],
  [
    'library-frame',
    -1,
    /node_modules|site-packages|dist-packages|\(native|\bat (?:java|javax|sun|jdk|org\.junit|org\.apache|org\.gradle|scala|kotlin|hudson|jenkins|org\.jenkinsci|com\.sun|groovy|org\.mockito|org\.springframework)[./]|node:internal|internal\/|\/gems\/|\/usr\/l|\/opt\/|rustc\/|\/vendor\/|libc\.so|lib\w{1,40}\.so|<anonymous>|\.cargo\/registry|python3\.\d{1,9}\//,
  ],
  ['retry', -1.5, /\b[Rr]etry(?:ing)?\b|will retry|attempt \d{1,9} of|[Tt]rying again|reconnect/],
  [
    'ignored',
    -2,
    /\(ignored\)|allowed to fail|allow_failure|continue-on-error|\|\| true|non-fatal|not fatal|skipped|SKIP|xfail|expected failure/,
  ],
  [
    'compile-command',
    -3,
    /^\s*(?:\/usr\/bin\/|\S{0,60}\/)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|rustc|javac|libtool:|x86_64-linux-gnu-\S{1,20})\s.{0,40}(?: -|$)|-W(?:error|all)\b/,
  ],
  [
    'echoed-script',
    -2.5,
    /^\s*(?:\$|>) |^##\[(?:group|command)\]|^\[command\]|^\[Pipeline\]|^(?:if|then|else|fi|for|done|echo|set|export|env|with)(?::|\s|$)|^shell: |^\s{2}[A-Z_]{3,40}: /,
  ],
  [
    'in-a-name',
    -1.5,
    /\b\w{0,40}(?:[Ee]rror|[Ff]ail(?:ed|ure)?|[Ee]xception)\w{0,40}\.(?:c|h|cc|cpp|js|ts|tsx|py|rb|go|java|rs|o|class|php|md|html|json|xml)\b(?!:\d)|\/(?:errors?|exceptions?|failures?)\//,
  ],
  [
    'cleaning-up',
    -3,
    /^(?:Cleaning up|Post job cleanup|Removing |Uploading|Saving cache|Not uploading|Deleting|Terminat|Stopping|Archiving|Recording|Notifying|Sending|Done\.|Finished:|Cleanup|Running after|Temporarily overriding|Adding repository directory|Store build cache|changes detected|creating cache|\[(?:command|Pipeline)\])|git config --(?:local|global)/,
  ],
];

export const RECOGNISERS: readonly Recogniser[] = [...SIGNS, ...CALMING];
