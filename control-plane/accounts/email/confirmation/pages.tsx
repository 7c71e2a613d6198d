import { renderFormPage } from '../../../foundation/web/html/form-page.tsx'

/** What the link in a confirmation opens. A button, because programs that look at mails for people open links too. */
export const confirmAddressPage = ({ organization, address }: { organization: string; address: string }) =>
  renderFormPage(
    'Get alerts by mail?',
    <>
      <p>
        <strong dir="auto">{organization}</strong> wants to send alerts to <strong>{address}</strong> through Picket:
        mails when its services go down or come back, when its certificates and domains are about to end, and about its
        incidents.
      </p>
      <form method="post">
        <button type="submit">Yes, send them to me</button>
      </form>
      <p class="more">If you do not know them, close this page: then nothing is sent.</p>
    </>,
  )

export const confirmedPage = () =>
  renderFormPage('Your address is confirmed', <p role="status">Alerts are sent to it from now on.</p>)

const LINK_PROBLEM_TEXTS = {
  used: 'This address was confirmed with it already.',
  expired: 'It worked for 72 hours. A test of the channel sends another one.',
  unknown: 'There may be a newer one in your mail.',
}

export const invalidConfirmationPage = (why: keyof typeof LINK_PROBLEM_TEXTS) =>
  renderFormPage('This link does not work', <p>{LINK_PROBLEM_TEXTS[why]}</p>)
