import type { ComponentChildren } from 'preact'
import {
  MAIL_BLUE,
  MAIL_WORD_BREAK,
  MailBadge,
  MailButton,
  type MailParts,
} from '../../../foundation/web/html/mail-layout.tsx'
import type { ChangeLine } from './digest-notice.ts'
import type { MailFooter, NoticeContent, Tone } from './notice-content.ts'
import { formatDateTime } from './wording.ts'

const DEFAULT_FOOTER: MailFooter = { by: 'Picket', link: null }

/** Enough contrast for white text on them, and on white and dark backgrounds. */
const COLOURS: Record<Tone, string> = { down: '#d92d20', degraded: '#b54708', up: '#067647', neutral: MAIL_BLUE }

/** The parts of the email about a notice. */
export function toMailParts(
  notice: NoticeContent,
  changes: ChangeLine[],
  more: number,
  footer: MailFooter = DEFAULT_FOOTER,
): MailParts {
  const colour = COLOURS[notice.tone]
  return {
    title: notice.title,
    badge: notice.badge,
    colour,
    preview: buildPreview(notice),
    paragraphs: notice.text === null ? [] : [notice.text],
    rows: [
      notice.facts.length === 0 ? null : <Facts facts={notice.facts} />,
      changes.length === 0 ? null : <Changes changes={changes} more={more} />,
      notice.open || notice.acknowledge ? <Buttons notice={notice} colour={colour} /> : null,
    ],
    footer: (
      <>
        {formatDateTime(notice.at)} · <Footer {...footer} />
      </>
    ),
  }
}

const buildPreview = ({ text, facts }: NoticeContent) =>
  text ?? facts.map(({ label, value }) => `${label}: ${value}`).join(' · ')

const Footer = ({ by, link }: MailFooter) => (
  <>
    sent by {by}
    {link !== null && (
      <>
        {' · '}
        <a class="soft" href={link.url} style="color:#667085">
          {link.label}
        </a>
      </>
    )}
  </>
)

const TEXT_CELL = `padding:5px 0;color:#344054;${MAIL_WORD_BREAK}`

const Facts = ({ facts }: Pick<NoticeContent, 'facts'>) => (
  <Table>
    {facts.map(({ label, value }) => (
      <tr>
        <td class="soft label" valign="top" style="padding:5px 16px 5px 0;white-space:nowrap;color:#667085">
          {label}
        </td>
        <td class="text" width="100%" valign="top" style={TEXT_CELL}>
          {value}
        </td>
      </tr>
    ))}
  </Table>
)

const Changes = ({ changes, more }: { changes: ChangeLine[]; more: number }) => (
  <Table>
    {changes.map(({ tone, name, status, time, url }) => (
      <tr>
        <td valign="top" style="padding:5px 12px 5px 0">
          <MailBadge text={status} colour={COLOURS[tone]} />
        </td>
        <td class="text" width="100%" valign="top" style={TEXT_CELL}>
          {url === null ? (
            name
          ) : (
            <a class="strong" href={url} style="color:#101828">
              {name}
            </a>
          )}
        </td>
        <td class="soft" valign="top" style="padding:5px 0 5px 12px;white-space:nowrap;color:#667085">
          {time}
        </td>
      </tr>
    ))}
    {more > 0 && (
      <tr>
        <td colspan={3} class="soft" style="padding:5px 0;color:#667085">
          and {more} more
        </td>
      </tr>
    )}
  </Table>
)

const Table = ({ children }: { children: ComponentChildren }) => (
  <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="font-size:15px;line-height:22px">
    {children}
  </table>
)

const Buttons = ({ notice: { open, acknowledge }, colour }: { notice: NoticeContent; colour: string }) => (
  <>
    {open && <MailButton {...open} colour={colour} />}
    {open && acknowledge && ' '}
    {acknowledge && <MailButton {...acknowledge} label="Acknowledge" colour={null} />}
  </>
)
