import type { ComponentChildren } from 'preact'

/** The parts of the payloads that a chat shows, as the layouts of the channels build them. */
type SlackText = { text: string }
type SlackBlock = {
  type: string
  text?: SlackText
  fields?: SlackText[]
  elements?: { text: SlackText | string; style?: string }[]
}
type DiscordEmbed = {
  title: string
  description: string
  color: number
  fields: { name: string; value: string; inline: boolean }[]
  footer: { text: string }
}
type TeamsRun = { text: string; weight?: string; isSubtle?: boolean; size?: string }
type TeamsBlock = { type: string; style?: string; items?: TeamsBlock[]; inlines?: TeamsRun[] }
type TeamsCard = { attachments: { content: { body: TeamsBlock[]; actions: { title: string }[] } }[] }

type ChatKind = 'chat_a' | 'chat_b' | 'chat_c'

/** A message as the chat shows it, from the bytes that it receives. Fonts and distances differ from those of the chat. */
export const ChatMessage = ({ kind, payload }: { kind: ChatKind; payload: object }) => (
  <div class={`chat-message ${kind}`}>
    <p class="chat-sender">
      <strong>Picket</strong> <span class="soft small">App</span>
    </p>
    {kind === 'chat_a' && <SlackMessage blocks={(payload as { blocks: SlackBlock[] }).blocks} />}
    {kind === 'chat_b' && <DiscordMessage embeds={(payload as { embeds: DiscordEmbed[] }).embeds} />}
    {kind === 'chat_c' && <TeamsMessage card={payload as TeamsCard} />}
  </div>
)

const SlackMessage = ({ blocks }: { blocks: readonly SlackBlock[] }) => (
  <div class="chat-body">
    {blocks.map(({ type, text, fields, elements = [] }, i) => (
      <div key={i} class={`slack-${type}`}>
        {text && <Lines text={readMarkup(text.text)} />}
        {fields && (
          <dl>
            {fields.map((field, at) =>
              at % 2 === 0 ? (
                <dt key={at}>{readMarkup(field.text)}</dt>
              ) : (
                <dd key={at} dir="auto">
                  {readMarkup(field.text)}
                </dd>
              ),
            )}
          </dl>
        )}
        {elements.map(({ text: label, style }, at) => {
          const shown = readMarkup(typeof label === 'string' ? label : label.text)
          return type === 'actions' ? (
            <Button key={at} text={shown} isMain={style === 'primary'} />
          ) : (
            <Lines key={at} text={shown} />
          )
        })}
      </div>
    ))}
  </div>
)

const DiscordMessage = ({ embeds }: { embeds: readonly DiscordEmbed[] }) => (
  <>
    {embeds.map(({ title, description, fields, color, footer }) => (
      <div key={title} class={`chat-body tone-${color.toString(16)}`}>
        <p>
          <strong dir="auto">{readMarkup(title)}</strong>
        </p>
        <Lines text={readMarkup(description)} />
        <dl>
          {fields.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{readMarkup(value)}</dd>
            </div>
          ))}
        </dl>
        <p class="soft small">{footer.text}</p>
      </div>
    ))}
  </>
)

const TeamsMessage = ({ card }: { card: TeamsCard }) => (
  <>
    {card.attachments.map(({ content: { body, actions } }, at) => (
      <div key={at} class="chat-body">
        {body.map((block, i) => (
          <TeamsPart key={i} block={block} />
        ))}
        <div class="slack-actions">
          {actions.map(({ title }) => (
            <Button key={title} text={title} />
          ))}
        </div>
      </div>
    ))}
  </>
)

const TeamsPart = ({ block: { style, items, inlines } }: { block: TeamsBlock }) =>
  items ? (
    <div class={`teams-head ${style ?? ''}`}>
      {items.map((item, i) => (
        <TeamsPart key={i} block={item} />
      ))}
    </div>
  ) : (
    <p dir="auto">
      {inlines?.map(({ text, weight, isSubtle }, i) =>
        weight === 'Bolder' ? (
          <strong key={i}>{text}</strong>
        ) : (
          <span key={i} class={isSubtle ? 'soft' : undefined}>
            {text}
          </span>
        ),
      )}
    </p>
  )

/** A button of the message. It does nothing here. */
const Button = ({ text, isMain = false }: { text: ComponentChildren; isMain?: boolean }) => (
  <span class={isMain ? 'chat-button main' : 'chat-button'}>{text}</span>
)

const Lines = ({ text }: { text: string }) => (
  <p class="message" dir="auto">
    {text}
  </p>
)

/** The text that a chat shows of its markup: links and times by their labels, escapes and marks of bold text removed. */
export const readMarkup = (text: string): string =>
  text
    .replace(/<[^<>|]+\|([^<>]*)>/g, '$1')
    .replace(/(?<!\\)\[([^\]]*?)\]\((?:[^()\s]*)\)/g, '$1')
    .replace(/^\*([^*\n]+)\*$/gm, '$1')
    .replace(/\*\*([^*\n]+)\*\*/g, '$1')
    .replace(/\\([\\*_~`|<>[\]()#+.-])/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
