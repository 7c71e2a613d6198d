import { renderFormPage } from '../../../foundation/web/html/form-page.tsx'

/** The page of a confirmation link. It has a button, because programs that scan email open links too. */
export const confirmAddressPage = ({ organization, address }: { organization: string; address: string }) =>
  renderFormPage(
    'Receive alerts by email?',
    <>
      <p>
        <strong dir="auto">{organization}</strong> wants to send alerts to <strong>{address}</strong> through Picket:
        when its services go down or recover, when its certificates or domains are about to expire, and about its
        incidents.
      </p>
      <form method="post">
        <button type="submit">Yes, send them to me</button>
      </form>
      <p class="more">If you do not know this organization, close this page. Nothing will be sent.</p>
    </>,
  )

export const confirmedPage = () =>
  renderFormPage('Your address is confirmed', <p role="status">Alerts will be sent to this address.</p>)

const LINK_PROBLEM_TEXTS = {
  used: 'This address is already confirmed.',
  expired: 'It expired after 72 hours. A test of the channel sends a new one.',
  unknown: 'You may have received a newer one.',
}

export const invalidConfirmationPage = (why: keyof typeof LINK_PROBLEM_TEXTS) =>
  renderFormPage('This link does not work', <p>{LINK_PROBLEM_TEXTS[why]}</p>)
