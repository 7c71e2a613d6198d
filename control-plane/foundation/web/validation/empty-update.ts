/** True for an update that changes nothing, not even when the record was changed last. */
export const isEmptyUpdate = (body: object): boolean => Object.keys(body).length === 0
