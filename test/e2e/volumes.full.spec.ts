import { readFileSync } from 'node:fs'
import { createTarGz } from '../support/archives.ts'
import { startTestPlatform } from '../support/platform.ts'
import { guestbook } from '../deployments/added-volumes-suite.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

test('unsaved files are shown, kept with one click, browsed, saved, restored and deleted', async ({ page, createRepository }) => {
  const platform = await startTestPlatform({ runtime: 'process' })
  const read = async (path = '/') => JSON.parse((await platform.fetchEdge('guests.localhost', path)).body) as { guests: string[]; uploads: string[] }
  try {
    await platform.createProject({ slug: 'guests', name: 'Guest book', repo_url: createRepository(guestbook('one')).url })
    expect((await platform.waitForEnd('guests', (await platform.deploy('guests')).id)).error).toBeNull()
    await read('/sign/Ada')
    await read('/upload/lantern.png')
    await signIn(page, await platform.handle.signInUrl())
    await page.goto(`${platform.handle.dashboard_url}projects/guests`)
    const reports = page.getByRole('region', { name: 'Files that are not kept' })
    await expect(reports).toHaveCount(0)

    // The report of the first inspection appears by itself.
    await platform.advanceInSteps(3 * 60_000)
    await expect(reports.getByText('/app/guests.db')).toBeVisible()
    await expect(reports.getByText('/app/public/uploads')).toBeVisible()
    await expectAccessible(page, 'files that are not kept')
    await reports.getByRole('button', { name: 'Keep all' }).click()
    await expect(page.getByText('The app is running with the changed volumes.')).toBeVisible()
    await expect(reports).toHaveCount(0)
    expect(await read()).toMatchObject({ guests: ['Ada'], uploads: ['lantern.png'] })

    await page.getByRole('link', { name: 'Storage', exact: true }).click()
    await page.getByRole('link', { name: 'Volumes', exact: true }).click()
    const uploads = page.getByRole('region', { name: 'uploads' })
    await expect(uploads.getByText('/app/public/uploads')).toBeVisible()
    await uploads.getByRole('button', { name: 'Take snapshot of uploads' }).click()
    const snapshots = uploads.getByRole('list', { name: 'Snapshots of uploads' })
    await expect(snapshots.getByRole('listitem')).toHaveCount(1)
    await expectAccessible(page, 'volumes')

    await uploads.getByRole('button', { name: 'Browse uploads' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download lantern.png' }).click()
    expect(readFileSync(await (await downloading).path(), 'utf8')).toBe('lantern.png')
    await page.getByRole('link', { name: 'All volumes' }).click()

    await read('/upload/rope.png')
    await snapshots.getByRole('button', { name: /^Actions for the snapshot/ }).click()
    await page.getByRole('menuitem', { name: 'Restore…' }).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.getByText('A snapshot of the current files is taken first.')).toBeVisible()
    await dialog.getByLabel('Type uploads to confirm').fill('uploads')
    await dialog.getByRole('button', { name: 'Restore volume' }).click()
    await expect(snapshots.getByRole('listitem')).toHaveCount(2)
    await expect(snapshots.getByText('Before its files were replaced')).toBeVisible()
    expect((await read()).uploads).toEqual(['lantern.png'])

    await uploads.getByRole('button', { name: 'Actions for uploads' }).click()
    await page.getByRole('menuitem', { name: 'Upload archive…' }).click()
    await dialog.getByLabel('Archive', { exact: true }).setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') })
    await expect(dialog.getByRole('alert')).toHaveText('Choose a .tar.gz or .zip archive.')
    const archive = createTarGz([{ name: 'anchor.png', data: 'anchor' }])
    await dialog.getByLabel('Archive', { exact: true }).setInputFiles({ name: 'photos.tar.gz', mimeType: 'application/gzip', buffer: archive })
    await expectAccessible(page, 'upload an archive into a volume')
    await dialog.getByLabel('Type uploads to confirm').fill('uploads')
    await dialog.getByRole('button', { name: 'Replace files' }).click()
    await expect(page.getByText('Uploaded 1 file into uploads. The previous files are in a snapshot.')).toBeVisible()
    await expect(snapshots.getByRole('listitem')).toHaveCount(3)
    expect((await read()).uploads).toEqual(['anchor.png'])

    await uploads.getByRole('button', { name: 'Actions for uploads' }).click()
    await page.getByRole('menuitem', { name: 'Detach…' }).click()
    await dialog.getByRole('button', { name: 'Detach volume' }).click()
    await expect(page.getByText('The app is running with the changed volumes.')).toBeVisible()
    await expect(uploads.getByText('The live version does not use it.')).toBeVisible()
    await platform.advanceInSteps(15_000)
    await uploads.getByRole('button', { name: 'Actions for uploads' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await dialog.getByLabel('Type uploads to confirm').fill('uploads')
    await dialog.getByRole('button', { name: 'Delete volume' }).click()
    await expect(uploads.getByText('Before the volume was deleted')).toBeVisible()
    await expect(uploads.getByText('Restore a snapshot to get its files back.')).toBeVisible()
  } finally {
    await platform.remove()
  }
})
