#!/bin/sh
# electron-builder's own script, except that the helper of Chromium's sandbox always gets its setuid bit, as in Chrome's own package. The original
# script tests for user namespaces as root, which has them even where AppArmor denies them to other users (Ubuntu 23.10 and later).

if command -v update-alternatives >/dev/null 2>&1; then
    if [ -e '/usr/bin/${executable}' ] && [ "$(readlink '/usr/bin/${executable}')" != '/etc/alternatives/${executable}' ]; then
        rm -f '/usr/bin/${executable}'
    fi
    update-alternatives --install '/usr/bin/${executable}' '${executable}' '/opt/${sanitizedProductName}/${executable}' 100 ||
        ln -sf '/opt/${sanitizedProductName}/${executable}' '/usr/bin/${executable}'
else
    ln -sf '/opt/${sanitizedProductName}/${executable}' '/usr/bin/${executable}'
fi

chmod 4755 '/opt/${sanitizedProductName}/chrome-sandbox' || true

if command -v update-mime-database >/dev/null 2>&1; then
    update-mime-database /usr/share/mime || true
fi
if command -v update-desktop-database >/dev/null 2>&1; then
    update-desktop-database /usr/share/applications || true
fi

# The profile allows the desktop to create user namespaces. AppArmor before version 4 (Ubuntu 22.04) neither supports nor needs it.
if apparmor_status --enabled >/dev/null 2>&1; then
    profile='/opt/${sanitizedProductName}/resources/apparmor-profile'
    if apparmor_parser --skip-kernel-load --debug "$profile" >/dev/null 2>&1; then
        cp -f "$profile" '/etc/apparmor.d/${executable}'
        # In a chroot, an image is being built, and the kernel belongs to another system.
        if ! { [ -x /usr/bin/ischroot ] && /usr/bin/ischroot; }; then
            apparmor_parser --replace --write-cache --skip-read-cache '/etc/apparmor.d/${executable}' || true
        fi
    fi
fi
