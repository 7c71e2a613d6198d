/** Functions that find markup, mentions and links in chat messages of a server at https://picket.example.com. */

// biome-ignore lint/suspicious/noExplicitAny: bodies of three chats
type Json = any

/** Returns every text of a body with its path. */
export function listTexts(value: unknown, keys: string[] = []): { keys: string[]; text: string }[] {
  if (typeof value === 'string') return [{ keys, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => listTexts(inner, [...keys, key]))
}

const found = (texts: string[], pattern: RegExp) => texts.filter(text => pattern.test(text))

/** Finds markup in a chat_a message: text of users must be plain. */
export function markupInChatA(body: Json): string[] {
  const shown = listTexts(body).filter(({ keys }) => !keys.includes('url') && !keys.includes('value'))
  const own = shown.map(({ text }) =>
    text
      .replace(/<!date\^\d+\^[^|>]*\|[^<>]*>/g, '')
      .replace(/<https:\/\/picket\.example\.com\/[^|<>]*\|([^<>]*)>/g, '$1'),
  )
  const objects: Json[] = body.blocks.flatMap((block: Json) => [block.text, ...(block.fields ?? [])])
  const marked = objects.filter(object => object?.type === 'mrkdwn').map(object => String(object.text))
  const ofOthers = marked.filter(text => text.includes('picket.example.com'))
  const labels = marked.filter(text => !text.includes('picket.example.com'))
  return [
    ...found(own, /[<>]|@(everyone|here|channel)|&(?!amp;|lt;|gt;)/),
    ...labels.filter(text => !/^\*[A-Z][a-z ]+\*$/.test(text)),
    ...found(ofOthers, /[*_~`]/),
  ]
}

/** Finds unescaped markup and mentions in a chat_b message. */
export function markupInChatB(body: Json): string[] {
  const [embed] = body.embeds
  const link = /\[((?:\\.|[^[\]\\])*)\]\(https:\/\/picket\.example\.com[^()\s]*\)/g
  const texts = listTexts([embed.title, embed.description, embed.fields]).map(({ text }) =>
    text
      .replace(link, '$1')
      .replace(/^\*\*(down|degraded|up)\*\* /gm, '')
      .replace(/\\[\\*_~`|<>[\]()#+.-]/g, 'x'),
  )
  const mentions = JSON.stringify(body.allowed_mentions) === '{"parse":[]}' ? [] : ['mentions are allowed']
  return [...mentions, ...found(texts, /[*_~`|<>]|\[|^\s*(#|-|\d+\.)|@(everyone|here)/m)]
}

/** Finds text of users outside of text runs, which have no markup, in a chat_c message. */
export function markupInChatC(body: Json): string[] {
  const texts = listTexts(body.attachments[0].content.body)
  const outside = texts.filter(({ keys }) => keys.at(-1) === 'text' && !keys.includes('inlines'))
  return [
    ...outside.map(({ text }) => text),
    ...found(
      texts.map(({ text }) => text),
      /\{\{|<at>|@everyone/,
    ),
  ]
}
