/** `node test/packaging/mac-package.ts FOLDER`: the shell of the package for macOS, with next to nothing in it; the system is not asked. */
import { Arch, build, Platform } from 'electron-builder'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import config from '../../resources/package/electron-builder.ts'
import { root } from '../support/instance-process.ts'
import { fuseWire } from './stand-in.ts'

const folder = process.argv[2]!
const contents = join(folder, 'electron/Electron.app/Contents')
const put = (path: string, text: string | Buffer) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode: 0o755 })
}
const plist = (name: string) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>CFBundleExecutable</key><string>${name}</string><key>CFBundleIdentifier</key><string>example</string></dict></plist>`
const app = (at: string, name: string) => {
  put(join(at, 'Info.plist'), plist(name))
  put(join(at, 'MacOS', name), name)
}
app(contents, 'Electron')
for (const kind of ['', ' (GPU)', ' (Renderer)', ' (Plugin)'])
  app(join(contents, `Frameworks/Electron Helper${kind}.app/Contents`), `Electron Helper${kind}`)
put(join(contents, 'Frameworks/Electron Framework.framework/Electron Framework'), fuseWire)
put(join(contents, 'Frameworks/Electron Framework.framework/Versions/A/Resources/en.lproj/locale.pak'), 'en')
put(join(contents, 'Resources/electron.icns'), 'icns')
for (const name of ['LICENSE', 'LICENSES.chromium.html', 'version']) put(join(folder, 'electron', name), name)

await build({
  projectDir: root,
  publish: 'never',
  targets: Platform.MAC.createTarget('dir', process.arch === 'x64' ? Arch.x64 : Arch.arm64),
  config: {
    ...config,
    directories: { ...config.directories, output: join(folder, 'dist') },
    electronDist: join(folder, 'electron'),
    beforePack: undefined,
    afterPack: undefined,
    extraResources: undefined,
    // Without it @electron/fuses signs anew by a program that only macOS has.
    electronFuses: { ...config.electronFuses, resetAdHocDarwinSignature: false },
    mac: { ...config.mac, identity: null, files: ['out/main/index.js', '!node_modules/**'] },
  },
})
