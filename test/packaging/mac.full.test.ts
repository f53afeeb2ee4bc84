import { getRawHeader } from '@electron/asar'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildChanged } from '../../server/cli/prepare.mjs'
import { newFolder, root } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'
import { closed, run } from './pack.ts'

test.skipIf(!requires('linux').ok)('macOS: its Info.plist names the scheme, no kind of document, and the hash of the archive', async () => {
  await buildChanged()
  const { path: folder, remove } = newFolder('mac-package')
  try {
    const output = await run([join(root, 'test/packaging/mac-package.ts'), folder], closed('http://127.0.0.1:9/'))
    const app = join(folder, 'dist', process.arch === 'x64' ? 'mac' : 'mac-arm64', 'Homeport.app/Contents')
    const plist = readFileSync(join(app, 'Info.plist'), 'utf8')
    const after = (key: string) => plist.split(`<key>${key}</key>`)[1]?.trim() ?? ''
    expect(after('CFBundleIdentifier'), output).toMatch(/^<string>dev\.homeport\.desktop</)
    expect(after('CFBundleURLSchemes')).toMatch(/^<array>\s*<string>homeport<\/string>\s*<\/array>/)
    expect(after('LSApplicationCategoryType')).toMatch(/^<string>public\.app-category\.developer-tools</)
    expect(after('NSAppSleepDisabled')).toMatch(/^<true\/>/)
    expect(plist).not.toMatch(/CFBundleDocumentTypes|UTImportedTypeDeclarations/)
    const header = createHash('sha256')
      .update(getRawHeader(join(app, 'Resources/app.asar')).headerString)
      .digest('hex')
    expect(after('ElectronAsarIntegrity')).toContain(`<string>${header}</string>`)
    // The fuses as text, in the order of FuseV1Options in @electron/fuses.
    expect(readFileSync(join(app, 'Frameworks/Electron Framework.framework/Electron Framework')).toString('latin1').slice(-8)).toBe('01001100')
    expect(readFileSync(join(app, 'Resources/icon.icns'))).toEqual(readFileSync(join(root, 'resources/package/icon.icns')))
  } finally {
    remove()
  }
})
