"""Which function lays out which kind of block, and which tells its natural widths."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.layout.context import LayOut, Measure
from workers.engine.layout.elements import (
    boxes,
    cells,
    contents,
    figures,
    lists,
    siderows,
    tables,
    text,
)
from workers.engine.tree.nodes import (
    Barcode,
    Break,
    Container,
    Contents,
    Grid,
    Image,
    Index,
    ListBlock,
    ListItem,
    Paragraph,
    Row,
    Rule,
    Table,
)

LAYOUTS: Final[Mapping[type, LayOut]] = MappingProxyType(
    {
        Paragraph: text.lay_out_paragraph,
        Rule: text.lay_out_rule,
        Container: boxes.lay_out_container,
        Row: siderows.lay_out_row,
        Grid: cells.lay_out_grid,
        ListBlock: lists.lay_out_list,
        ListItem: lists.lay_out_item,
        Image: figures.lay_out_image,
        Barcode: figures.lay_out_barcode,
        Table: tables.lay_out_table,
        Contents: contents.lay_out_contents,
        Index: contents.lay_out_contents,
    }
)

MEASURES: Final[Mapping[type, Measure]] = MappingProxyType(
    {
        Paragraph: text.measure_paragraph,
        Rule: text.measure_rule,
        Container: boxes.measure_container,
        Row: siderows.measure_row,
        Grid: cells.measure_grid,
        Break: boxes.measure_break,
        ListBlock: lists.measure_list,
        ListItem: lists.measure_item,
        Image: figures.measure_image,
        Barcode: figures.measure_barcode,
        Table: tables.measure_table,
        Contents: contents.measure_contents,
        Index: contents.measure_contents,
    }
)
