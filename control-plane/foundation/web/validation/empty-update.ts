/** True for an update without fields; it does not change `updated_at` either. */
export const isEmptyUpdate = (body: object): boolean => Object.keys(body).length === 0
