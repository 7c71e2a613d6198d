/** What chats would read as markup, calls or links in messages of an installation at https://picket.example.com. */

// biome-ignore lint/suspicious/noExplicitAny: bodies of three chats
type Json = any

/** Every text of a body with the keys that lead to it. */
export function textsOf(value: unknown, keys: string[] = []): { keys: string[]; text: string }[] {
  if (typeof value === 'string') return [{ keys, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, [...keys, key]))
}

const found = (texts: string[], pattern: RegExp) => texts.filter(text => pattern.test(text))

/** In chat_a what others wrote is plain text: no call, no link, no style. */
export function markupInChatA(body: Json): string[] {
  const shown = textsOf(body).filter(({ keys }) => !keys.includes('url') && !keys.includes('value'))
  const own = shown.map(({ text }) =>
    text
      .replace(/<!date\^\d+\^[^|>]*\|[^<>]*>/g, '')
      .replace(/<https:\/\/picket\.example\.com\/[^|<>]*\|([^<>]*)>/g, '$1'),
  )
  const objects: Json[] = body.blocks.flatMap((block: Json) => [block.text, ...(block.fields ?? [])])
  const marked = objects.filter(one => one?.type === 'mrkdwn').map(one => String(one.text))
  const ofOthers = marked.filter(text => text.includes('picket.example.com'))
  const labels = marked.filter(text => !text.includes('picket.example.com'))
  return [
    ...found(own, /[<>]|@(everyone|here|channel)|&(?!amp;|lt;|gt;)/),
    ...labels.filter(text => !/^\*[A-Z][a-z ]+\*$/.test(text)),
    ...found(ofOthers, /[*_~`]/),
  ]
}

/** In chat_b every sign of markup is escaped, and no one is called. */
export function markupInChatB(body: Json): string[] {
  const [embed] = body.embeds
  const link = /\[((?:\\.|[^[\]\\])*)\]\(https:\/\/picket\.example\.com[^()\s]*\)/g
  const texts = textsOf([embed.title, embed.description, embed.fields]).map(({ text }) =>
    text
      .replace(link, '$1')
      .replace(/^\*\*(down|degraded|up)\*\* /gm, '')
      .replace(/\\[\\*_~`|<>[\]()#+.-]/g, 'x'),
  )
  const calls = JSON.stringify(body.allowed_mentions) === '{"parse":[]}' ? [] : ['it may call people']
  return [...calls, ...found(texts, /[*_~`|<>]|\[|^\s*(#|-|\d+\.)|@(everyone|here)/m)]
}

/** In chat_c texts of others are in text runs, which have no markup. */
export function markupInChatC(body: Json): string[] {
  const texts = textsOf(body.attachments[0].content.body)
  const outside = texts.filter(({ keys }) => keys.at(-1) === 'text' && !keys.includes('inlines'))
  return [
    ...outside.map(({ text }) => text),
    ...found(
      texts.map(({ text }) => text),
      /\{\{|<at>|@everyone/,
    ),
  ]
}
