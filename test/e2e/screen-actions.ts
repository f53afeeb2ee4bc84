import type { Page } from '@playwright/test'
import type { ErrorEnvelope } from '../../server/contract/errors.ts'

export function waitForDialog(page: Page) {
  return page.getByRole('dialog').waitFor()
}

export function makeRemoteUnreachable(page: Page) {
  const json = {
    error: 'remote_unreachable',
    message: 'berth.example.com is not responding.',
    request_id: 'req_01JB3M5V9Y',
  } satisfies ErrorEnvelope
  return page.route('**/remote/**', (route) => route.fulfill({ status: 502, json }))
}

/** The remote refuses our token. */
export function makeRemoteRefuseToken(page: Page) {
  const json = { error: 'remote_token_refused', message: 'It does not take the token.', request_id: 'req_01JB3M5V9Z' } satisfies ErrorEnvelope
  return page.route('**/remote/**', (route) => route.fulfill({ status: 409, json }))
}

/** Responses of this URL never arrive. */
export function holdBackResponses(page: Page, address: string) {
  return page.route(address, () => undefined)
}

/** Responses of this URL are internal errors of the platform. */
export function failResponses(page: Page, address: string) {
  const json = {
    error: 'internal_error',
    message: 'Something went wrong inside Homeport. Its log has the cause under this request id.',
    request_id: 'req_01JB3M5V9X',
  } satisfies ErrorEnvelope
  return page.route(address, (route) => route.fulfill({ status: 500, headers: { 'x-request-id': json.request_id }, json }))
}

export async function pickMenuItem(page: Page, button: string, item: string) {
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await waitForDialog(page)
}

export async function openNewProject(page: Page) {
  await page.getByRole('button', { name: 'New project' }).last().click()
  await waitForDialog(page)
}

export async function chooseUpload(page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]) {
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Upload' }).click()
  await page.getByRole('button', { name: 'Choose file…' }).click()
  await (await choosing).setFiles(files)
  await page.getByRole('region', { name: 'Upload' }).or(page.getByRole('alert')).first().waitFor()
}

/** Drags a file from outside of the browser over the page. */
export async function dragFileOver(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  const data = { items: [], files: [import.meta.filename], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver'] as const)
    await cdp.send('Input.dispatchDragEvent', { type, x: (page.viewportSize()?.width ?? 0) * 0.7, y: 400, data })
}

export async function addFavorite(page: Page): Promise<void> {
  // The window may have shown the grid before.
  await page.getByRole('button', { name: 'Show as list' }).click()
  await page.getByTestId('project-row').last().hover()
  await page
    .getByRole('button', { name: / to favorites$/ })
    .last()
    .click()
  await page.getByRole('button', { name: / from favorites$/ }).waitFor()
}
