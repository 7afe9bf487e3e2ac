// Checks the accessibility of the page in its current state. Returns the findings: [{ rule, selector, message, count }].
(() => {
    'use strict';
    const findings = new Map();
    const all = (selector, root = document) => [...root.querySelectorAll(selector)];

    // Returns a short selector: the element and up to two ancestors.
    const shortSelector = element => {
        const parts = [];
        for (let at = element; at && parts.length < 3; at = at.parentElement) {
            const classes = [...at.classList].slice(0, 2).map(name => '.' + name).join('');
            parts.unshift(at.localName + (at.id ? '#' + at.id : classes));
            if (at.id) break;
        }
        return parts.join(' > ');
    };
    const report = (rule, element, message) => {
        const selector = shortSelector(element);
        // Selectors that differ only by a number, such as those of lines, are merged into one finding.
        const key = [rule, selector.replace(/\d+/g, '0'), message].join('\n');
        const finding = findings.get(key) ?? { rule, selector, message, count: 0 };
        finding.count += 1;
        findings.set(key, finding);
    };

    const isVisible = element =>
        element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
    const isAriaHidden = element => element.closest('[aria-hidden=true]') !== null;
    // Text for screen readers only is in a box of at most one pixel, at any depth. Results are cached.
    const clippedElements = new Map([[null, false]]);
    const isClipped = element => {
        const unknown = [];
        let at = element;
        for (; !clippedElements.has(at); at = at.parentElement) unknown.push(at);
        let clipped = clippedElements.get(at);
        for (const inner of unknown.reverse()) {
            const { width, height } = inner.getBoundingClientRect();
            clipped ||= (width <= 1 || height <= 1) && getComputedStyle(inner).overflow !== 'visible';
            clippedElements.set(inner, clipped);
        }
        return clipped;
    };

    // The accessible name.
    const attribute = (element, name) => (element.getAttribute(name) ?? '').trim();
    const textContent = root => {
        const texts = [];
        const skip = node =>
            node !== root && node.nodeType === Node.ELEMENT_NODE &&
            (node.getAttribute('aria-hidden') === 'true' || !node.checkVisibility({ visibilityProperty: true }))
                ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, skip);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
            else texts.push(attribute(node, 'aria-label'), attribute(node, 'alt'));
        }
        // The title of an SVG is its name although it is not rendered.
        for (const title of all('svg > title', root)) texts.push(title.textContent);
        if (root.localName === 'svg') texts.push(root.querySelector(':scope > title')?.textContent ?? '');
        return texts.join('').trim();
    };
    const idList = (element, name) => attribute(element, name).split(/\s+/).filter(Boolean);
    const labelText = element =>
        idList(element, 'aria-labelledby').map(id => document.getElementById(id)?.textContent ?? '').join(' ').trim() ||
        attribute(element, 'aria-label') ||
        [...(element.labels ?? [])].map(textContent).join(' ').trim() ||
        attribute(element, 'title');
    const hasName = element => {
        if (labelText(element)) return true;
        if (element.matches('input[type=submit], input[type=reset]')) return true;
        if (element.matches('input[type=button]')) return element.value.trim() !== '';
        if (element.matches('input, select, textarea')) return attribute(element, 'alt') !== '';
        return textContent(element) !== '';
    };

    const checkNames = () => {
        const formField = 'input:not([type=submit], [type=button], [type=reset], [type=image]), select, textarea';
        const roleSelectors = ['button', 'link', 'option', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'checkbox', 'radio', 'switch',
            'treeitem'].map(role => `[role=${role}]`);
        const interactive = ['a[href], button, input, select, textarea, summary, [tabindex]', ...roleSelectors].join();
        for (const element of all(interactive)) {
            if (!isVisible(element) || element.matches('input[type=hidden]')) continue;
            const focusable = element.tabIndex >= 0;
            if (isAriaHidden(element)) {
                if (focusable) report('hidden', element, 'is focusable but hidden from screen readers');
                continue;
            }
            // An element that only scripts focus needs no name unless it has a role.
            const isPlain = element.matches('[tabindex]:not(a, button, input, select, textarea, summary, [role])');
            if (hasName(element) || (isPlain && !focusable)) continue;
            if (element.matches(formField)) report('label', element, 'has no label');
            else report('name', element, 'has no accessible name');
        }
        for (const element of all('img:not([alt]), [role=img], input[type=image]')) {
            if (!isVisible(element) || isAriaHidden(element) || element.matches('[role=presentation], [role=none]')) continue;
            const alt = attribute(element, 'alt') || labelText(element) || textContent(element);
            if (!alt) report('alt', element, 'is an image without alternative text');
        }
    };

    const checkStructure = () => {
        const root = document.documentElement;
        if (!attribute(root, 'lang')) report('lang', root, 'has no language');
        if (!document.title.trim()) report('title', root, 'has no title');
        const mains = all('main, [role=main]').filter(isVisible);
        // A modal dialog hides everything else.
        const hasModal = all('[role=dialog][aria-modal=true]').some(isVisible);
        if (mains.length !== 1 && !hasModal) report('main', root, `has ${mains.length} main elements instead of one`);

        const ids = new Map();
        for (const element of all('[id]')) {
            ids.set(element.id, (ids.get(element.id) ?? 0) + 1);
            if (!element.id.trim()) report('id', element, 'has an empty id');
            else if (ids.get(element.id) === 2) report('id', element, 'has an id that occurs more than once');
        }
        for (const element of all('[tabindex]')) {
            if (element.tabIndex > 0) report('tabindex', element, 'has a positive tabindex');
        }
        let level = 1;
        for (const heading of all('h1, h2, h3, h4, h5, h6, [role=heading]')) {
            if (!isVisible(heading) || isAriaHidden(heading)) continue;
            const ownLevel = Number(attribute(heading, 'aria-level') || heading.localName.slice(1)) || 2;
            if (ownLevel > level + 1) report('heading', heading, `has level ${ownLevel} after level ${level}`);
            level = ownLevel;
        }
        const references = ['labelledby', 'describedby', 'controls', 'owns', 'activedescendant', 'details', 'flowto',
            'errormessage'].map(name => 'aria-' + name);
        for (const name of references.concat('for')) {
            for (const element of all(name === 'for' ? 'label[for]' : `[${name}]`)) {
                const missing = idList(element, name).filter(id => !document.getElementById(id));
                if (missing.length) report('reference', element, `has ${name} with unknown ids: ${missing}`);
            }
        }
    };

    // The requirements of a role: the roles that may contain it, and its required attributes.
    const unrestricted = ['alert', 'alertdialog', 'application', 'article', 'banner', 'blockquote', 'button', 'caption', 'code',
        'complementary', 'contentinfo', 'definition', 'dialog', 'document', 'emphasis', 'feed', 'figure', 'form', 'generic', 'grid',
        'group', 'img', 'insertion', 'deletion', 'link', 'list', 'listbox', 'log', 'main', 'mark', 'marquee', 'math', 'menu', 'menubar',
        'navigation', 'none', 'note', 'paragraph', 'presentation', 'progressbar', 'radiogroup', 'region', 'search', 'searchbox',
        'separator', 'spinbutton', 'status', 'strong', 'table', 'tablist', 'tabpanel', 'term', 'textbox', 'time', 'timer', 'toolbar',
        'tooltip', 'tree', 'treegrid'];
    const menus = ['menu', 'menubar'], rows = ['row'], tables = ['table', 'grid', 'treegrid', 'rowgroup'];
    const roles = new Map(unrestricted.map(role => [role, {}]));
    for (const [role, parents, attributes] of [
        ['option', ['listbox'], ['aria-selected']], ['tab', ['tablist'], ['aria-selected']], ['listitem', ['list'], []],
        ['menuitem', menus, []], ['menuitemcheckbox', menus, ['aria-checked']], ['menuitemradio', menus, ['aria-checked']],
        ['treeitem', ['tree'], []], ['row', tables, []], ['rowgroup', tables.slice(0, 3), []],
        ['cell', rows, []], ['gridcell', rows, []], ['columnheader', rows, []], ['rowheader', rows, []],
        ['checkbox', null, ['aria-checked']], ['radio', null, ['aria-checked']], ['switch', null, ['aria-checked']],
        ['combobox', null, ['aria-expanded', 'aria-controls']], ['heading', null, ['aria-level']],
        ['slider', null, ['aria-valuenow']], ['scrollbar', null, ['aria-valuenow']], ['meter', null, ['aria-valuenow']],
    ]) roles.set(role, { parents, attributes });
    const implicitRoles = { ul: 'list', ol: 'list', menu: 'list', table: 'table', tr: 'row', thead: 'rowgroup', tbody: 'rowgroup',
        tfoot: 'rowgroup', select: 'listbox' };
    const checkRoles = () => {
        // Groups and elements without meaning for screen readers are skipped.
        const parentRole = element => {
            for (let at = element.parentElement; at; at = at.parentElement) {
                const role = attribute(at, 'role') || implicitRoles[at.localName];
                if (role && !['group', 'none', 'presentation', 'generic'].includes(role)) return role;
            }
            return 'nothing';
        };
        for (const element of all('[role]')) {
            if (!isVisible(element) || isAriaHidden(element)) continue;
            const role = attribute(element, 'role');
            const requirements = roles.get(role);
            if (!requirements) { report('role', element, `has an unknown role: ${role}`); continue; }
            const { parents, attributes } = requirements;
            if (parents && !parents.includes(parentRole(element))) {
                report('role', element, `is ${role} within ${parentRole(element)} instead of ${parents.join(' or ')}`);
            }
            // Native elements have these states without attributes.
            const isNative = element.matches('h1, h2, h3, h4, h5, h6, input[type=checkbox], input[type=radio], input[type=range]');
            for (const name of isNative ? [] : attributes ?? []) {
                if (!element.hasAttribute(name)) report('role', element, `is ${role} without ${name}`);
            }
        }
    };

    // Colours are [red, green, blue, alpha] from 0 to 1, with premultiplied alpha.
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const colours = new Map();
    const parseColour = text => {
        if (!colours.has(text)) {
            const rgb = text.match(/^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/);
            let [r, g, b, a] = rgb ? [rgb[1], rgb[2], rgb[3], rgb[4] ?? 1].map(Number) : [];
            if (!rgb) {
                canvas.clearRect(0, 0, 1, 1);
                canvas.fillStyle = text;
                canvas.fillRect(0, 0, 1, 1);
                [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
                a /= 255;
            }
            colours.set(text, [r / 255 * a, g / 255 * a, b / 255 * a, a]);
        }
        return colours.get(text);
    };
    const blend = (top, bottom) => top.map((channel, i) => channel + bottom[i] * (1 - top[3]));
    const applyOpacity = (colour, opacity) => colour.map(channel => channel * opacity);
    const luminance = colour => {
        const [r, g, b] = colour.map(channel => channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrastRatio = (a, b) => {
        const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const hex = colour => '#' + colour.slice(0, 3).map(channel => Math.round(channel * 255).toString(16).padStart(2, '0')).join('');
    const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
    const scheme = getComputedStyle(document.documentElement).colorScheme.split(' ');
    const canvasColour = scheme.includes('dark') && (prefersDark || !scheme.includes('light')) ? parseColour('rgb(18, 18, 18)') : [1, 1, 1, 1];

    // Blends text and background colours from the element outwards. Returns null if an image or an effect is in between.
    const layerOf = style => {
        const hasEffect = style.mixBlendMode !== 'normal' || style.filter !== 'none';
        const hasImage = style.backgroundImage !== 'none' || style.backgroundClip === 'text';
        return { hasEffect, hasImage, background: parseColour(style.backgroundColor), opacity: Number(style.opacity) };
    };
    const layers = new Map();
    const renderedColours = (element, textColour, pseudo) => {
        let text = parseColour(textColour), ground = [0, 0, 0, 0];
        const addLayer = ({ hasEffect, hasImage, background, opacity }) => {
            if (hasEffect || (hasImage && ground[3] < 0.999)) return false;
            text = applyOpacity(blend(text, background), opacity);
            ground = applyOpacity(blend(ground, background), opacity);
            return true;
        };
        if (pseudo && !addLayer(layerOf(pseudo))) return null;
        for (let at = element; at; at = at.parentElement) {
            if (!layers.has(at)) layers.set(at, layerOf(getComputedStyle(at)));
            if (!addLayer(layers.get(at))) return null;
        }
        return [blend(text, canvasColour), blend(ground, canvasColour)];
    };
    // SVG text on a shape is not checked: its background does not follow from the tree.
    const shapes = new Map();
    const isOnShape = element => {
        const svg = element.ownerSVGElement;
        if (!shapes.has(svg)) {
            const filled = all('rect, circle, ellipse, path, polygon', svg).filter(shape => getComputedStyle(shape).fill !== 'none');
            shapes.set(svg, filled.map(shape => shape.getBoundingClientRect()));
        }
        const box = element.getBoundingClientRect();
        const x = box.x + box.width / 2, y = box.y + box.height / 2;
        return shapes.get(svg).some(shape => shape.left <= x && x <= shape.right && shape.top <= y && y <= shape.bottom);
    };
    const checkTextColour = (element, textColour, style, pseudo) => {
        const pair = renderedColours(element, textColour, pseudo && style);
        if (!pair) return;
        const size = parseFloat(style.fontSize);
        const minimum = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
        const contrast = contrastRatio(...pair);
        if (contrast >= minimum) return;
        const prefix = pseudo ? `has ${pseudo} that ` : '';
        report('contrast', element, `${prefix}is ${hex(pair[0])} on ${hex(pair[1])}: ${contrast.toFixed(2)} instead of ${minimum}`);
    };
    const isReadable = element => isVisible(element) && !isClipped(element) && !element.closest(':disabled, [aria-disabled=true]');
    const checkContrast = () => {
        const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
        const seen = new Set();
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const element = node.parentElement;
            if (!element || seen.has(element) || !node.data.trim() || element.matches('textarea, option, title, desc')) continue;
            seen.add(element);
            if (!isReadable(element)) continue;
            const style = getComputedStyle(element);
            if (!(element instanceof SVGElement)) checkTextColour(element, style.webkitTextFillColor, style);
            else if (element.ownerSVGElement && style.fill.match(/^(rgb|color|ok|lab|lch)/) && !isOnShape(element)) checkTextColour(element, style.fill, style);
        }
        for (const field of all('input, textarea, select')) {
            if (!isReadable(field) || field.matches('[type=checkbox], [type=radio], [type=range], [type=color]')) continue;
            const style = getComputedStyle(field);
            const isPlaceholder = field.value === '' && attribute(field, 'placeholder');
            if (isPlaceholder) checkTextColour(field, getComputedStyle(field, '::placeholder').color, style);
            else if (field.value) checkTextColour(field, style.color, style);
        }
    };

    // Text that the stylesheet adds, such as line numbers. Symbols alone are decoration.
    const checkGeneratedText = () => {
        for (const element of all('body *')) {
            for (const pseudo of ['::before', '::after']) {
                const style = getComputedStyle(element, pseudo);
                if (!/counter|".*[\p{L}\p{N}].*"/u.test(style.content) || style.visibility !== 'visible') continue;
                if (style.display !== 'none' && isReadable(element)) checkTextColour(element, style.webkitTextFillColor, style, pseudo);
            }
        }
    };

    const checkWidth = () => {
        const width = document.documentElement.clientWidth;
        const contentWidth = document.scrollingElement.scrollWidth;
        if (contentWidth <= width) return;
        const overflowing = new Set(all('body *').filter(element => {
            const box = element.getBoundingClientRect();
            if (box.width === 0 || box.right + scrollX <= width + 0.5) return false;
            for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
                if (getComputedStyle(at).overflowX !== 'visible') return false;
            }
            return true;
        }));
        const innermost = [...overflowing].filter(element => ![...element.children].some(child => overflowing.has(child)));
        for (const element of innermost.length ? innermost.slice(0, 20) : [document.documentElement]) {
            const right = Math.round(element.getBoundingClientRect().right + scrollX);
            report('overflow', element, `extends to ${Math.max(right, contentWidth)} px in a viewport of ${width} px`);
        }
    };

    checkStructure();
    checkNames();
    checkRoles();
    checkContrast();
    checkGeneratedText();
    checkWidth();
    return [...findings.values()];
})()
