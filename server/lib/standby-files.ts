/** In the folder of a standby: what it knows of itself. A folder with this file is not that of an instance. */
export const standbyFile = 'standby.json'
/** In the folder of a standby that a person wants to lead. */
export const promotionFile = 'promote'
