/**
 * Texts that break out where escaping is missing. A text that breaks out of markup becomes an element or an
 * attribute called `broken-out`, a link to `evil.example`, or a header called `X-Broken-Out`.
 */
export const HOSTILE_TEXTS: Record<string, string> = {
  'an element': '<broken-out>1</broken-out>',
  'a script': '</script><script broken-out>1</script>',
  'an end of everything': '</title></style></textarea></noscript></template><broken-out>',
  'an SVG': '<svg/onload=alert(1) broken-out><broken-out/></svg>',
  'an attribute': '" onmouseover="alert(1)" broken-out="',
  'an attribute in single quotes': "' onmouseover='alert(1)' broken-out='",
  'an attribute without quotes': 'x onmouseover=alert(1) broken-out=1',
  'a link that runs': 'javascript:alert(1)//https://evil.example/',
  'a link with a tab in its scheme': 'java\tscript:alert(1)//evil.example',
  'a comment': '<!-- --!><broken-out> -->',
  'an end of CDATA': ']]><broken-out/><![CDATA[',
  'entities of XML': '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;&#0;&lt;broken-out&gt;',
  'headers of a mail': 'x\r\nBcc: evil@example.com\r\nX-Broken-Out: 1\r\n\r\n<broken-out>',
  'a line feed': 'x\nX-Broken-Out: 1',
  'an encoded word of a mail': '=?utf-8?Q?x=0D=0ABcc:_evil@example.com?=',
  'a change of direction': 'a\u202egnp.exe\u2066b\u2069\u200f',
  'a NUL': 'a\0b',
  'control characters': 'a\u0001\u0007\u0008\u001b[2J\u001b]0;x\u0007\u007f\u0085\u009bb',
  'no width': 'a\u200bb\u200dc\ufeffd\u2060e\u00adf',
  'ends of lines of JavaScript': 'a\u2028b\u2029c',
  noncharacters: 'a\ufffeb\uffffc',
  'four bytes': '😀👩‍👩‍👧‍👦𝕏'.repeat(3),
  'half a surrogate pair': 'a\ud800b',
  'marks on marks': `a${'\u0301\u0489'.repeat(40)}`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of another product
  templates: '{{7*7}} ${7*7} <%= 7*7 %> #{7*7} {{constructor.constructor("x")()}} %s %n {0}',
  'marks of a chat': '<!channel> <@U012AB3CD> <https://evil.example|bank> @everyone @here <@&1> <at>all</at>',
  'marks of Markdown': '[x](javascript:alert(1)) ![x](https://evil.example/i) **b** `c` ||d|| # e',
  'a formula': '=cmd|"/C calc"!A0',
  SQL: "'; DROP TABLE monitors; --",
  'a pattern of SQL': '%_\\%\\_',
  'a prototype': '__proto__',
  'a tag of YAML': '!!js/function >- x',
  'an anchor of YAML': '&a [*a, *a]: {x: 1} # y',
  'a document of YAML': '--- "\\"',
  'a path': '../../../etc/passwd%00',
  'a label of a metric': 'x"} 1\\n# HELP broken_out 1',
  'a line of a log': '{"level":60,"msg":"broken-out"}',
  'nothing to see': '\u00a0\u2003\u3000',
  long: 'W'.repeat(100),
}

/** Texts that PostgreSQL cannot store; they are refused everywhere. */
export const isUnstorable = (text: string) => /\0|\p{Surrogate}/u.test(text)
