import type { ComponentChildren } from 'preact'
import { TextLines } from './text-lines.tsx'

/** The parts of a mail. */
export type MailParts = {
  title: string
  /** a coloured label above the title; null: none */
  badge: string | null
  /** must have enough contrast for white text */
  colour: string
  /** the text that mail programs show next to the subject */
  preview: string
  paragraphs: string[]
  /** blocks below the paragraphs; null ones are left out */
  rows: ComponentChildren[]
  footer: ComponentChildren
}

/** What a reader sees of a mail. */
export const MailBody = ({ title, badge, colour, paragraphs, rows, footer }: MailParts) => (
  <table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7">
    <tr>
      <td align="center" class="around" style="padding:32px 16px">
        <table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style={CARD}>
          <tr>
            <td height="6" style={`height:6px;line-height:6px;font-size:0;background:${colour}`}>
              &nbsp;
            </td>
          </tr>
          <tr>
            <td class="inside" style="padding:28px 32px 8px">
              <Heading title={title} badge={badge} colour={colour} />
              {paragraphs.map(text => (
                <Paragraph text={text} />
              ))}
            </td>
          </tr>
          {rows.map(row => row !== null && <Row>{row}</Row>)}
          <tr>
            <td class="inside line soft" style={FOOTER}>
              {footer}
            </td>
          </tr>
        </table>
      </td>
    </tr>
  </table>
)

/** The neutral colour. */
export const MAIL_BLUE = '#175cd3'
/** For texts of users, which may be one long word. */
export const MAIL_WORD_BREAK = 'overflow-wrap:anywhere;word-break:break-word'
const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const CARD = `max-width:600px;background:#ffffff;border-radius:10px;overflow:hidden;${FONT};text-align:left`
const FOOTER = 'padding:16px 32px 20px;border-top:1px solid #eaecf0;font-size:13px;line-height:20px;color:#667085'
const HEADING = `font-size:22px;line-height:30px;font-weight:600;color:#101828;${MAIL_WORD_BREAK}`
const PARAGRAPH = `margin:10px 0 0;font-size:16px;line-height:24px;color:#344054;${MAIL_WORD_BREAK}`
const BADGE =
  'display:inline-block;padding:3px 10px;border-radius:12px;font-size:12px;line-height:18px;font-weight:600;color:#ffffff'
const BUTTON =
  'display:inline-block;margin:4px 8px 12px 0;padding:10px 20px;border-radius:8px;font-size:15px;line-height:22px;font-weight:600;text-decoration:none;text-align:center'

export const MailBadge = ({ text, colour }: { text: string; colour: string }) => (
  <span style={`${BADGE};background:${colour}`}>{text}</span>
)

/** `colour` null: a secondary button. */
export function MailButton({ label, url, colour }: { label: string; url: string; colour: string | null }) {
  const [name, style] =
    colour === null
      ? ['plain', 'border:1px solid #d0d5dd;color:#344054']
      : ['full', `background:${colour};border:1px solid ${colour};color:#ffffff`]
  return (
    <a class={`button ${name}`} href={url} style={`${BUTTON};${style}`}>
      {label}
    </a>
  )
}

const Heading = ({ title, badge, colour }: Pick<MailParts, 'title' | 'badge' | 'colour'>) => (
  <>
    {badge !== null && <MailBadge text={badge} colour={colour} />}
    <h1 class="strong" style={`margin:${badge === null ? '0' : '14px 0 0'};${HEADING}`}>
      {title}
    </h1>
  </>
)

const Paragraph = ({ text }: { text: string }) => (
  <p class="text" style={PARAGRAPH}>
    <TextLines text={text} />
  </p>
)

/** A block with padding. */
const Row = ({ children }: { children: ComponentChildren }) => (
  <tr>
    <td class="inside" style="padding:12px 32px 8px">
      {children}
    </td>
  </tr>
)

/** Styles that cannot be inline: dark colours, and small screens. Mail programs that drop them show the light mail. */
export const MAIL_STYLE = [
  ':root{color-scheme:light dark;supported-color-schemes:light dark}',
  '@media (max-width:480px){',
  '.around{padding:0!important}',
  '.card{border-radius:0!important}',
  '.inside{padding-left:20px!important;padding-right:20px!important}',
  '.button{display:block!important;margin-right:0!important}',
  '}',
  '@media (prefers-color-scheme:dark){',
  '.page{background:#0c111d!important}',
  '.card{background:#161b26!important}',
  '.strong{color:#f5f5f6!important}',
  '.text{color:#cecfd2!important}',
  '.soft{color:#94969c!important}',
  '.line{border-color:#1f242f!important}',
  '.plain{color:#cecfd2!important;border-color:#333741!important}',
  '}',
].join('\n')
